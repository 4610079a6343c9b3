// What `npm start` says when it is ready.

interface Announcement {
  readonly url: string
  readonly key: string
  /** `--state …` for commands that must find this launch; empty for the default folder. */
  readonly stateOption: string
}

/** The URL, the demo key and three commands to copy. */
export function announce({ url, key, stateOption }: Announcement): string {
  const watch = `npm run watch -- BTC${stateOption ? ` ${stateOption}` : ''}`
  return `
Weir is ready at ${url}
Demo API key: ${key}

Three commands to copy, in another terminal:

  curl -s ${url}/info -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
  ${watch}
  less README.md

Ctrl-C ends everything.
`
}
