// A Slack that others wrote: `emulate`, with what its events lack next to Slack's own.
//
//   EVENTS_URL=http://127.0.0.1:3000/slack/events SIGNING_SECRET=… PORT=0 node tests/peers/slack.mjs
//
// Prints one line of JSON: the address of its Web API, its tokens and its ids. The emulator subscribes nobody
// by itself, sends events without team, id and signature, and reads arguments from bodies of POST requests
// only; each is put right here, at its edges, so that what lies between stays theirs.
import { createHmac, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createEmulator } from "emulate";

const { EVENTS_URL, SIGNING_SECRET } = process.env;
const BOT = { token: "xoxb-bot", user: "U0BOT", bot_id: "B0BOT", app_id: "A0BOT" };
const SCOPES = [
  "chat:write", "channels:history", "channels:read", "channels:join", "files:read", "files:write",
  "im:history", "im:read", "im:write", "users:read",
];

// The plugin is no public part of the package: it is the chunk that makes trigger ids.
const dist = path.dirname(fileURLToPath(import.meta.resolve("emulate")));
const chunk = readdirSync(dist).find(
  (name) => /^dist-.*\.js$/.test(name) && readFileSync(path.join(dist, name), "utf8").includes("views.generateTriggerId"),
);
const { slackPlugin } = await import(pathToFileURL(path.join(dist, chunk)));
const register = slackPlugin.register.bind(slackPlugin);
let team = "";
slackPlugin.register = (app, store, webhooks, ...rest) => {
  webhooks.register({ url: EVENTS_URL, events: ["*"], active: true, owner: "slack" });
  return register(app, store, webhooks, ...rest);
};

const send = globalThis.fetch;
globalThis.fetch = (url, options = {}) => {
  if (String(url) !== EVENTS_URL) return send(url, options);
  const body = JSON.stringify({
    ...JSON.parse(options.body), team_id: team, api_app_id: BOT.app_id, event_id: `Ev${randomUUID()}`,
  });
  const time = Math.floor(Date.now() / 1000);
  const digest = createHmac("sha256", SIGNING_SECRET).update(`v0:${time}:${body}`).digest("hex");
  const headers = {
    ...options.headers, "X-Slack-Request-Timestamp": String(time), "X-Slack-Signature": `v0=${digest}`,
  };
  return send(url, { ...options, body, headers });
};

const emulator = await createEmulator({
  service: "slack",
  port: Number(process.env.EMULATOR_PORT),
  seed: {
    slack: {
      signing_secret: SIGNING_SECRET,
      strict_scopes: true,
      team: { name: "Acme", domain: "acme" },
      users: [{ name: "dev", real_name: "Dev", email: "dev@example.com" }],
      channels: [{ name: "kb", topic: "kb" }],
      oauth_apps: [{
        client_id: "1.2", client_secret: "cs", app_id: BOT.app_id, name: "Footnote", redirect_uris: [],
        scopes: SCOPES, bot_id: BOT.bot_id, bot_user_id: BOT.user, bot_name: "footnote",
      }],
      tokens: [
        { token: BOT.token, type: "bot", user: BOT.user, bot_id: BOT.bot_id, bot_user_id: BOT.user, app_id: BOT.app_id, scopes: SCOPES },
        { token: "xoxp-dev", user: "dev" },
      ],
    },
  },
});

const proxy = http.createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  let body = Buffer.concat(parts);
  const url = new URL(request.url, emulator.url);
  let { method } = request;
  const headers = { ...request.headers };
  for (const name of ["host", "connection", "content-length", "transfer-encoding"]) delete headers[name];
  if (url.pathname.startsWith("/api/") && body.length === 0) {
    body = Buffer.from(url.searchParams.toString());
    url.search = "";
    method = "POST";
    headers["content-type"] = "application/x-www-form-urlencoded";
  }
  const answer = await send(url, { method, headers, redirect: "manual", body: method === "GET" ? undefined : body });
  const type = answer.headers.get("content-type") ?? "application/octet-stream";
  response.writeHead(answer.status, { "content-type": type });
  const raw = Buffer.from(await answer.arrayBuffer());
  // Addresses that it tells lead back here, too.
  const own = `http://127.0.0.1:${proxy.address().port}`;
  response.end(type.includes("json") ? raw.toString().replaceAll(emulator.url, own) : raw);
});
proxy.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${proxy.address().port}`;
  const ask = async (name, token) =>
    (await send(`${emulator.url}/api/${name}`, { method: "POST", headers: { Authorization: `Bearer ${token}` } })).json();
  team = (await ask("auth.test", BOT.token)).team_id;
  const channels = (await ask("conversations.list", BOT.token)).channels;
  const channel = channels.find((one) => one.name === "kb").id;
  console.log(JSON.stringify({ url, team, channel, ...BOT, person: (await ask("auth.test", "xoxp-dev")).user_id }));
});
