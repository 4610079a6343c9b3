// Code samples of one call in three languages. They read the gateway URL and the key from the environment, like the
// programs in examples/, and use only standard libraries, plus `websockets` for Python streams.

import { Ago } from './request-form.ts'

/** Languages with display names. */
export const LANGUAGES = { bash: 'curl', ts: 'TypeScript', python: 'Python' } as const
export type Samples = Readonly<Record<keyof typeof LANGUAGES, string>>

const digits = (ms: number) => String(ms).replaceAll(/\B(?=(\d{3})+$)/g, '_')
const minus = (ms: number) => (ms === 0 ? '' : ` - ${digits(ms)}`)

/** JSON in single quotes for a shell. */
const shellQuoted = (value: unknown) =>
  `'${JSON.stringify(value)
    .replaceAll("'", `'"'"'`)
    .replaceAll(/"ago (\d+)"/g, (_, ms: string) => `'$((($(date +%s) - ${Number(ms) / 1_000}) * 1000))'`)}'`

export function postSamples(path: string, body: unknown): Samples {
  return {
    bash: `curl -s "$WEIR_URL${path}" \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(body)}`,
    ts: `const { WEIR_URL, WEIR_KEY } = process.env
const response = await fetch(\`\${WEIR_URL}${path}\`, {
  method: 'POST',
  headers: { authorization: \`Bearer \${WEIR_KEY}\`, 'content-type': 'application/json' },
  body: JSON.stringify(${scriptLiteral(body)}),
})
if (!response.ok) throw new Error(await response.text())
console.log(await response.json(), 'credits:', response.headers.get('x-credits-cost'))`,
    python: `import json, os, ${pythonLiteral(body).includes('time.time()') ? 'time, ' : ''}urllib.request

request = urllib.request.Request(
    os.environ['WEIR_URL'] + ${pythonLiteral(path)},
    json.dumps(${pythonLiteral(body)}).encode(),
    {'Authorization': 'Bearer ' + os.environ['WEIR_KEY'], 'Content-Type': 'application/json'},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response), 'credits:', response.headers['x-credits-cost'])`,
  }
}

/** Code for any method; `secret` is the environment variable with the key or token. */
export function callSamples(method: string, path: string, body: unknown, secret: string): Samples {
  const verb = method.toUpperCase()
  const isPlain = verb === 'GET'
  const hasBody = body !== undefined
  return {
    bash: `curl -s ${isPlain ? '' : `-X ${verb} `}"$WEIR_URL${path}" \\
  -H "Authorization: Bearer $${secret}"${
    hasBody ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellQuoted(body)}` : ''
  }`,
    ts: `const { WEIR_URL, ${secret} } = process.env
const response = await fetch(\`\${WEIR_URL}${path}\`, {
  method: '${verb}',
  headers: { authorization: \`Bearer \${${secret}}\`${hasBody ? ", 'content-type': 'application/json'" : ''} },${
    hasBody ? `\n  body: JSON.stringify(${scriptLiteral(body)}),` : ''
  }
})
console.log(response.status, await response.text())`,
    python: `import json, os, urllib.request

request = urllib.request.Request(
    os.environ['WEIR_URL'] + ${pythonLiteral(path)},${hasBody ? `\n    json.dumps(${pythonLiteral(body)}).encode(),` : ''}
    headers={'Authorization': 'Bearer ' + os.environ['${secret}']${hasBody ? ", 'Content-Type': 'application/json'" : ''}},
    method='${verb}',
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())`,
  }
}

export function subscribeSamples(subscription: unknown): Samples {
  const frame = { method: 'subscribe', subscription }
  return {
    bash: `npx wscat -w 30 \\
  -c "\${WEIR_URL/http/ws}/ws?key=$WEIR_KEY" \\
  -x ${shellQuoted(frame)}`,
    ts: `const { WEIR_URL, WEIR_KEY } = process.env
const socket = new WebSocket(\`\${WEIR_URL!.replace('http', 'ws')}/ws?key=\${WEIR_KEY}\`)
const frame = ${scriptLiteral(frame)}
socket.onopen = () => socket.send(JSON.stringify(frame))
socket.onmessage = ({ data }) => console.log(data)
const pings = setInterval(() => socket.send('{"method":"ping"}'), 20_000)
socket.onclose = ({ code, reason }) => {
  clearInterval(pings)
  console.error('closed', code, reason)
}`,
    python: `import asyncio, json, os
import websockets

async def ping(socket):
    while True:
        await asyncio.sleep(20)
        await socket.send('{"method":"ping"}')

async def main():
    url = os.environ['WEIR_URL'].replace('http', 'ws', 1) + '/ws?key=' + os.environ['WEIR_KEY']
    async with websockets.connect(url, max_size=None) as socket:
        pinging = asyncio.create_task(ping(socket))
        await socket.send(json.dumps(${pythonLiteral(frame)}))
        async for text in socket:
            print(text)

asyncio.run(main())`,
  }
}

function scriptLiteral(value: unknown): string {
  if (value instanceof Ago) return `Date.now()${minus(value.ms)}`
  if (Array.isArray(value)) return `[${value.map(scriptLiteral).join(', ')}]`
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, item]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}: ${scriptLiteral(item)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function pythonLiteral(value: unknown): string {
  if (value instanceof Ago) return `int(time.time() * 1000)${minus(value.ms)}`
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`)
    .join(', ')}}`
}
