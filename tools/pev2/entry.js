// The page of one plan: pev2 and nothing else. The plan stands in the element #plan as JSON.
import "./storage.js";
import { createApp, h } from "vue";
import { Plan } from "pev2";

const given = JSON.parse(document.getElementById("plan").textContent);
createApp({
  render: () => h(Plan, { planSource: JSON.stringify([given.plan], null, 2), planQuery: given.query }),
}).mount("#app");
