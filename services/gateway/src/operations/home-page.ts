/** What a person sees who opens the gateway in a browser. */
export function homePage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Fleetmend</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}code{background:#333}a{color:#8cf}}</style>
<h1>Fleetmend gateway</h1>
<p>This is the HTTP door of Fleetmend, a loop that watches a fleet of LLM agents, finds where they go wrong, and learns rules that help.
Agents send ended turns to <code>POST /v1/turns</code>; people and tools read sessions, notices and the journal.</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: every route, with its fields</li>
<li><a href="/asyncapi.json">/asyncapi.json</a>: the events on the bus</li>
<li><a href="/readyz">/readyz</a>: whether everything needed is there</li>
<li><a href="/metrics">/metrics</a>: Prometheus metrics and the backlog</li>
</ul>
<p>The dashboard will be here in a later version; it is not built yet. Until then: <code>fleetmend sessions</code>, <code>fleetmend notices watch</code>.</p>
</html>
`;
}
