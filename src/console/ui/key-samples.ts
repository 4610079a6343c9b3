// First calls with a key, to copy.

/** A service key manages the account, so it has no samples of market data. */
export function samplesOf(key: string, origin: string): Readonly<Record<string, string>> {
  if (key.startsWith('cqs_'))
    return {
      curl: `curl -s ${origin}/platform/account/ \\\n  -H 'Authorization: Bearer ${key}'`,
      TypeScript: fetchSample(`${origin}/platform/account/`, key, ''),
      Python: `import httpx\n\nheaders = {"Authorization": "Bearer ${key}"}\nprint(httpx.get("${origin}/platform/account/", headers=headers).json())`,
    }
  return {
    curl: `curl -s ${origin}/info \\\n  -H 'Authorization: Bearer ${key}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"type":"allMids"}'`,
    TypeScript: fetchSample(`${origin}/info`, key, `\n  method: 'POST',\n  body: JSON.stringify({ type: 'allMids' }),`),
    Python: `import httpx\n\nheaders = {"Authorization": "Bearer ${key}"}\nprint(httpx.post("${origin}/info", headers=headers, json={"type": "allMids"}).json())`,
    MCP: `claude mcp add --transport http weir ${origin}/mcp \\\n  --header "Authorization: Bearer ${key}"`,
  }
}

const fetchSample = (url: string, key: string, more: string) =>
  `const response = await fetch('${url}', {${more}\n  headers: { Authorization: 'Bearer ${key}', 'Content-Type': 'application/json' },\n})\nconsole.log(await response.json())`
