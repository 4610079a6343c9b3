// What `npm start` says when it is ready.

interface Announcement {
  readonly url: string
  readonly key: string
  /** A service key of the same account. */
  readonly serviceKey: string
  readonly adminToken: string
  /** ` --state …` for commands that must find this launch; empty for the default folder. */
  readonly stateOption: string
  readonly dailyCredits: number
}

/** The URL, pages and what to sign in with, variables and three commands to copy, what the demo account has, where to read on. */
export function announce({ url, key, serviceKey, adminToken, stateOption, dailyCredits }: Announcement): string {
  return `
Weir is ready at ${url}

In a browser:  ${url}/live      a market, moving
               ${url}/console   sign in as owner of keys with ${serviceKey}
               ${' '.repeat(url.length)}            or as operator with ${adminToken}

In another terminal, the variables that all examples and guides read, and three commands:

  export WEIR_URL=${url} WEIR_KEY=${key} WEIR_SERVICE_KEY=${serviceKey}
  curl -s $WEIR_URL/info -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
  npm run watch -- BTC${stateOption}
  npm run keys -- create --credits 1000${stateOption}

These keys are of the account "demo": plan professional, filled up to ${dailyCredits.toLocaleString('en')} credits each UTC day. To give it more:
  npm run admin -- account grant demo 5000 --id more-1${stateOption}

Every call and its price: ${url}/docs
How fresh everything is:  ${url}/status
Ctrl-C ends everything.
`
}
