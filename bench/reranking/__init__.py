"""The parts of `bench/local_reranker.py`: a first stage, features, late interaction, a fit."""
