// What jsforce's public methods do against a server of ours: a row a method.
//
//     node jsforce_rows.mjs ADDRESS
//
// Prints one JSON object a row: {"row": …, "ok": true} or {"row": …, "ok": false, "error": …}.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const place = process.env.CRMBENCH_NODE_MODULES;
const jsforce = createRequire(`${place}/package.json`)("jsforce");
const address = process.argv[2];
const rows = [];
const row = (name, run) => rows.push([name, run]);

async function connected() {
  const conn = new jsforce.Connection({ loginUrl: address, version: "59.0" });
  await conn.login("u@x.example", "password");
  return conn;
}

async function refused(run, name) {
  await assert.rejects(run, (error) => {
    assert.equal(error.name, name, `${error.name}: ${error.message}`);
    return true;
  });
}

async function newCase(conn) {
  const contact = await conn.sobject("Contact").findOne({}, "Id");
  const made = await conn.sobject("Case").create({ ContactId: contact.Id, Subject: "From Node" });
  assert.equal(made.success, true);
  return made.id;
}

row("login, logout", async (conn) => {
  assert.match(conn.userInfo.id, /^005/);
  assert.match(conn.userInfo.organizationId, /^00D/);
  await conn.logout();
});

row("authorize", async () => {
  const oauth2 = { loginUrl: address, clientId: "c", clientSecret: "s", redirectUri: "x" };
  const byPassword = new jsforce.Connection({ oauth2 });
  await byPassword.authorize({ grant_type: "password", username: "u", password: "p" });
  assert.equal((await byPassword.query("SELECT Id FROM Case LIMIT 1")).totalSize, 1);
  const byCode = new jsforce.Connection({ oauth2 });
  await byCode.authorize({ grant_type: "client_credentials" });
  assert.match(byCode.accessToken, /^00D/);
});

row("identity", async (conn) => {
  const who = await conn.identity();
  assert.equal(who.organization_id, conn.userInfo.organizationId);
  const { accessToken, instanceUrl } = conn;
  const passedIn = new jsforce.Connection({ accessToken, instanceUrl });
  assert.equal((await passedIn.identity()).user_id, who.user_id);
});

row("query, queryMore, autoFetchQuery", async (conn) => {
  const first = await conn.query("SELECT Id FROM PricebookEntry");
  assert.equal(first.done, false);
  const second = await conn.queryMore(first.nextRecordsUrl);
  assert.equal(second.records.length, 2000);
  const options = { autoFetch: true, maxFetch: 30000 };
  const all = await conn.query("SELECT Id FROM PricebookEntry", options);
  assert.equal(all.records.length, 21765);
  const aggregate = await conn.query("SELECT Status, COUNT(Id) FROM Case GROUP BY Status");
  assert.ok(aggregate.records[0].expr0 > 0);
});

row("query with deleted records", async (conn) => {
  const key = await newCase(conn);
  await conn.sobject("Case").destroy(key);
  const text = `SELECT Id FROM Case WHERE Id = '${key}'`;
  assert.equal((await conn.query(text)).totalSize, 0);
  assert.equal((await conn.query(text, { scanAll: true })).totalSize, 1);
});

row("query.explain", async (conn) => {
  const explained = await conn.query("SELECT Id FROM Case LIMIT 1").explain();
  assert.equal(explained.plans[0].sobjectType, "Case");
});

row("search", async (conn) => {
  const found = await conn.search("FIND {tent} RETURNING Product2(Id, Name LIMIT 2)");
  assert.equal(found.searchRecords.length, 2);
});

row("describeGlobal, describe, describe$", async (conn) => {
  const all = await conn.describeGlobal();
  assert.ok(all.sobjects.some((each) => each.name === "Case"));
  const described = await conn.sobject("Case").describe();
  assert.ok(described.fields.some((f) => f.name === "CaseNumber" && f.nameField));
  assert.equal((await conn.describe$("Case")).name, "Case");
});

row("layouts, namedLayouts, compactLayouts, approvalLayouts", async (conn) => {
  const object = conn.sobject("Case");
  assert.deepEqual((await object.layouts()).layouts, []);
  assert.ok(await object.layouts("Any"));
  assert.ok(await object.compactLayouts());
  assert.ok(await object.approvalLayouts());
});

row("retrieve", async (conn) => {
  const key = await newCase(conn);
  assert.equal((await conn.sobject("Case").retrieve(key)).Subject, "From Node");
  const both = await conn.retrieve("Case", [key, key], { fields: ["Id", "Subject"] });
  assert.deepEqual(both.map((r) => r.Id), [key, key]);
  const whole = await conn.retrieve("Case", [key]);
  assert.equal(whole[0].Priority, "Medium");
});

row("create, update, upsert, destroy: one", async (conn) => {
  const key = await newCase(conn);
  const done = await conn.sobject("Case").update({ Id: key, Priority: "High" });
  assert.deepEqual([done.success, done.id], [true, key]);
  const product = conn.sobject("Product2");
  const first = await product.upsert({ External_ID__c: "n1", Name: "N" }, "External_ID__c");
  assert.equal(first.success, true);
  await product.upsert({ External_ID__c: "n1", Name: "M" }, "External_ID__c");
  assert.equal((await product.retrieve(first.id)).Name, "M");
  assert.equal((await conn.sobject("Case").destroy(key)).success, true);
});

row("create, update, upsert, destroy: several", async (conn) => {
  const product = conn.sobject("Product2");
  const made = await product.create([{ Name: "A" }, { Name: "B" }, {}], { allOrNone: false });
  assert.deepEqual(made.map((r) => r.success), [true, true, false]);
  assert.equal(made[2].errors[0].statusCode ?? made[2].errors[0].errorCode, "REQUIRED_FIELD_MISSING");
  const keys = made.slice(0, 2).map((r) => r.id);
  const changed = await product.update(keys.map((Id) => ({ Id, Description: "x" })));
  assert.ok(changed.every((r) => r.success));
  const merged = await product.upsert(
    [{ External_ID__c: "m1", Name: "C" }, { External_ID__c: "m2", Name: "D" }],
    "External_ID__c",
  );
  assert.ok(merged.every((r) => r.success));
  const gone = await product.destroy(keys);
  assert.ok(gone.every((r) => r.success));
});

row("find, findOne, count, include, sort", async (conn) => {
  const cases = conn.sobject("Case");
  const number = await cases.count({ Status: "Closed" });
  assert.ok(number > 800);
  const dated = await cases.find(
    { CreatedDate: { $gte: jsforce.SfDate.toDateTimeLiteral("2025-01-01T00:00:00Z") } },
    "Id, Subject, Owner.Name",
  ).sort({ CreatedDate: -1 }).limit(3);
  assert.equal(dated.length, 3);
  assert.ok(dated[0].Owner.Name);
  const account = await conn.sobject("Account").findOne({ Cases: null }, "*").catch(() => null);
  assert.ok(account === null || account.Id);
  const withCases = await conn.sobject("Account").select("Id, Name")
    .include("Contacts").select("Id, Name").end().limit(2);
  assert.equal(withCases.length, 2);
  const starred = await cases.find({}, "*").limit(1);
  assert.ok("CaseNumber" in starred[0]);
});

row("update and destroy of what is found", async (conn) => {
  const product = conn.sobject("Product2");
  await product.create([{ Name: "Bulk me 1" }, { Name: "Bulk me 2" }]);
  const found = product.find({ Name: { $like: "Bulk me %" } });
  const changed = await found.update({ Description: "x" }, { allowBulk: false });
  assert.equal(changed.length, 2);
  const gone = await product.find({ Name: { $like: "Bulk me %" } }).destroy({ allowBulk: false });
  assert.ok(gone.every((r) => r.success));
});

row("recent, updated, deleted", async (conn) => {
  const key = await newCase(conn);
  assert.equal((await conn.sobject("Case").recent())[0].Id, key);
  assert.equal((await conn.recent("Case", 1)).length, 1);
  assert.equal((await conn.recent(1))[0].Id, key);
  const [start, end] = ["2026-02-20T00:00:00Z", "2026-03-10T00:00:00Z"];
  assert.ok((await conn.sobject("Case").updated(start, end)).ids.includes(key));
  await conn.sobject("Case").destroy(key);
  const told = await conn.sobject("Case").deleted(start, end);
  assert.ok(told.deletedRecords.some((r) => r.id === key));
});

row("limits, limitInfo", async (conn) => {
  assert.equal((await conn.limits()).DailyApiRequests.Max, 15000);
  assert.equal(conn.limitInfo.apiUsage.limit, 15000);
});

row("request, requestGet, requestPost", async (conn) => {
  assert.ok(Array.isArray(await conn.requestGet("/services/data")));
  assert.ok((await conn.request("/limits")).DailyApiRequests);
  const body = { compositeRequest: [{ method: "GET", url: "/services/data/v59.0/limits", referenceId: "a" }] };
  const done = await conn.requestPost("/composite", body);
  assert.equal(done.compositeResponse[0].httpStatusCode, 200);
});

row("bulk.load: insert, update, upsert, delete", async (conn) => {
  const made = await conn.bulk.load("Product2", "insert", [
    { Name: "L1", Description: "x" }, { Name: "L2", Description: "x" }, { Name: "", Description: "x" },
  ]);
  assert.deepEqual(made.map((r) => r.success), [true, true, false]);
  const keys = made.slice(0, 2).map((r) => r.id);
  const changed = await conn.bulk.load("Product2", "update", keys.map((Id) => ({ Id, Name: "L" })));
  assert.ok(changed.every((r) => r.success));
  const options = { extIdField: "External_ID__c" };
  const merged = await conn.bulk.load("Product2", "upsert", options, [{ External_ID__c: "l1", Name: "L3" }]);
  assert.equal(merged[0].success, true);
  const gone = await conn.bulk.load("Product2", "delete", keys.map((Id) => ({ Id })));
  assert.ok(gone.every((r) => r.success));
});

row("bulk.query", async (conn) => {
  const stream = await conn.bulk.query("SELECT Id, Owner.Name FROM Case");
  const found = await stream.toArray();
  assert.ok(found.length > 900);
  assert.ok(found[0]["Owner.Name"]);
});

row("bulk2.loadAndWaitForResults", async (conn) => {
  const input = [{ Name: "V1", IsActive: true }, { Name: "V2", Description: null }, { Name: "" }];
  const done = await conn.bulk2.loadAndWaitForResults({ object: "Product2", operation: "insert", input });
  assert.deepEqual(
    [done.successfulResults.length, done.failedResults.length, done.unprocessedRecords.length],
    [2, 1, 0],
  );
  assert.match(done.failedResults[0].sf__Error, /^REQUIRED_FIELD_MISSING/);
  const gone = done.successfulResults.map((r) => ({ Id: r.sf__Id }));
  const deleted = await conn.bulk2.loadAndWaitForResults({ object: "Product2", operation: "delete", input: gone });
  assert.equal(deleted.successfulResults.length, 2);
});

row("bulk2.query", async (conn) => {
  const stream = await conn.bulk2.query("SELECT Id, Name FROM Product2");
  assert.ok((await stream.toArray()).length >= 501);
  const deleted = await conn.bulk2.query("SELECT Id FROM Case LIMIT 3", { scanAll: true });
  assert.equal((await deleted.toArray()).length, 3);
});

row("errors", async (conn) => {
  await refused(() => conn.query("SELECT Nope FROM Case"), "INVALID_FIELD");
  await refused(() => conn.query("SELEC"), "MALFORMED_QUERY");
  await refused(() => conn.sobject("Case").create({}), "REQUIRED_FIELD_MISSING");
  await refused(() => conn.sobject("Case").retrieve("500Hs0000000000"), "NOT_FOUND");
  await refused(() => conn.sobject("Nope").describe(), "NOT_FOUND");
  await refused(() => conn.sobject("Case").destroy("500Hs0000000000"), "INVALID_CROSS_REFERENCE_KEY");
});

row("an expired session", async (conn) => {
  const gone = new jsforce.Connection({ instanceUrl: conn.instanceUrl, accessToken: "00Dx!gone" });
  await refused(() => gone.query("SELECT Id FROM Case"), "INVALID_SESSION_ID");
  const job = gone.bulk.createJob("Case", "insert");
  job.on("error", () => {});
  await refused(() => job.open(), "InvalidSessionId");
});

row("tooling, chatter, analytics, apex, quick actions", async (conn) => {
  await refused(() => conn.tooling.query("SELECT Id FROM ApexClass"), "NOT_FOUND");
  await refused(() => conn.apex.get("/x"), "NOT_FOUND");
  await refused(() => conn.analytics.reports(), "NOT_FOUND");
  await refused(() => conn.quickActions(), "NOT_FOUND");
});

for (const [name, run] of rows) {
  try {
    await run(await connected());
    console.log(JSON.stringify({ row: name, ok: true }));
  } catch (error) {
    console.log(JSON.stringify({ row: name, ok: false, error: String(error.stack ?? error) }));
  }
}
