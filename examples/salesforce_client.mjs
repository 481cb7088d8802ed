// Salesforce code as anybody has it, which knows nothing of us.
//
//     crmbench launch -- node examples/salesforce_client.mjs
//
// It logs in as to any org, counts the open cases by priority and opens one more. Needs jsforce.
import jsforce from "jsforce";

const { SALESFORCE_USERNAME, SALESFORCE_PASSWORD, SALESFORCE_SECURITY_TOKEN } = process.env;
const conn = new jsforce.Connection({ loginUrl: "https://login.salesforce.com" });
await conn.login(SALESFORCE_USERNAME, SALESFORCE_PASSWORD + SALESFORCE_SECURITY_TOKEN);
const open = await conn.query(
  "SELECT Priority, COUNT(Id) n FROM Case WHERE IsClosed = false GROUP BY Priority",
);
for (const row of open.records) {
  console.log(row.Priority, row.n);
}
const contact = await conn.sobject("Contact").findOne({}, ["Id", "Name"]);
const made = await conn.sobject("Case").create({ ContactId: contact.Id, Subject: "From Node" });
const { CaseNumber } = await conn.sobject("Case").retrieve(made.id);
console.log(`opened case ${CaseNumber} for ${contact.Name}`);
