"""What can be wrong with what an evaluation is given."""


class BadEvaluation(Exception):
    """`str()` is one sentence that says what is wrong, and where."""


class BadDataset(BadEvaluation):
    """A folder that is no evaluation set."""


class BadSettings(BadEvaluation):
    """Settings to try that can't be read, or that need what is not configured."""


class BadReport(BadEvaluation):
    """A file of results that can't be read, or that can't be compared."""
