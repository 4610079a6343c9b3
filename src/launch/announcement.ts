// What `npm start` says when it is ready.

export interface Announcement {
  readonly url: string
  readonly key: string
  /** A service key of the same account. */
  readonly serviceKey: string
  readonly adminToken: string
  /** ` --state …` for commands that must find this launch; empty for the default folder. */
  readonly stateOption: string
}

/** The URL, pages and what to sign in with, the demo key, three commands to copy and where to read on. */
export function announce({ url, key, serviceKey, adminToken, stateOption }: Announcement): string {
  return `
Weir is ready at ${url}

In a browser:  ${url}/live      a market, moving
               ${url}/console   sign in as owner of keys with ${serviceKey}
               ${' '.repeat(url.length)}            or as operator with ${adminToken}
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
