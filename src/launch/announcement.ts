// What `npm start` says when it is ready.

interface Announcement {
  readonly url: string
  readonly key: string
  /** ` --state …` for commands that must find this launch; empty for the default folder. */
  readonly stateOption: string
}

/** The URL, the demo key, three commands to copy and where to read on. */
export function announce({ url, key, stateOption }: Announcement): string {
  return `
Weir is ready at ${url}
Demo API key: ${key}

Three commands to copy, in another terminal:

  curl -s ${url}/info -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
  npm run watch -- BTC${stateOption}
  npm run keys -- create --credits 1000${stateOption}

Every call and its price: ${url}/docs
How fresh everything is:  ${url}/status
Ctrl-C ends everything.
`
}
