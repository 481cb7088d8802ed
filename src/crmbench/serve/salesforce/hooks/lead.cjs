// Leads what a Node program sends to Salesforce to a local org; see `crmbench launch`.
"use strict";

const http = require("node:http");
const https = require("node:https");
const { syncBuiltinESMExports } = require("node:module");

const local = new URL(process.env.CRMBENCH_LAUNCH_URL);
const HOSTS = [".salesforce.com", ".force.com", ".cloudforce.com"];
const request = https.request;

function isLed(host, port) {
  const own = host === local.hostname && String(port || 443) === local.port;
  return own || HOSTS.some((name) => host.endsWith(name));
}

function lead(...args) {
  const first = args[0];
  const url = typeof first === "string" || first instanceof URL ? new URL(first) : null;
  const options = { ...(url ? args.find((a, i) => i > 0 && typeof a === "object") : first) };
  const host = url ? url.hostname : (options.hostname || options.host || "").split(":")[0];
  if (!isLed(host, url ? url.port : options.port)) {
    return request.apply(https, args);
  }
  const callback = args.find((a) => typeof a === "function");
  const path = url ? url.pathname + url.search : options.path;
  const headers = { ...options.headers, host: local.host };
  const place = { protocol: "http:", hostname: local.hostname, host: local.hostname };
  const sent = { ...options, ...place, port: local.port, path, headers, agent: undefined };
  return http.request(sent, callback);
}

https.request = lead;
https.get = (...args) => {
  const sent = lead(...args);
  sent.end();
  return sent;
};
syncBuiltinESMExports();
