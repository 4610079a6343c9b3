// A gradual deploy of the live Worker: the new version gets more and more of the objects, with a pause and a look at `/status`
// after each step. If the feed is not live after a pause, or before a deploy that continues an interrupted one, all objects
// return to the old version. Cloudflare assigns versions object by object, and an object keeps the new version as the share
// grows, so that each socket closes at most once.

import * as z from 'zod'

/** Shares of the objects in percent, and the pause after each, in ms. */
export interface GradualPlan {
  readonly shares: readonly number[]
  readonly pauseMs: number
}

/** How often the state is read before a feed counts as not live, and the pause between. One lost answer proves nothing. */
const READS = 3
const READ_PAUSE_MS = 5_000

export interface GradualPorts {
  /** Versions of the current deployment. */
  readonly deployed: () => Promise<readonly DeployedVersion[]>
  /** Uploads the new version without deploying it. */
  readonly upload: () => Promise<string>
  /** Sets the share of each version in percent. */
  readonly setShares: (shares: ReadonlyMap<string, number>) => Promise<void>
  /** `state` of `/status`, or why there was no answer. */
  readonly state: () => Promise<string>
  readonly sleep: (ms: number) => Promise<void>
  readonly log: (line: string) => void
}

interface DeployedVersion {
  readonly id: string
  readonly createdMs: number
}

export const SHARES_MESSAGE = 'must be increasing percentages that end with 100, such as 10,50,100'

export const Shares = z
  .string(SHARES_MESSAGE)
  .regex(/^\d{1,3}(,\d{1,3})*$/, SHARES_MESSAGE)
  .transform((text) => text.split(',').map(Number))
  .refine(
    (shares) => shares.at(-1) === 100 && shares.every((share, at) => share > (shares[at - 1] ?? 0)),
    SHARES_MESSAGE,
  )

/** Null if the new version has all objects; otherwise why the old version has them. */
export async function deployGradually({ shares, pauseMs }: GradualPlan, ports: GradualPorts): Promise<string | null> {
  const { deployed, upload, setShares, sleep, log } = ports
  const before = await stateOf(ports)
  // An interrupted deploy leaves two versions. The older one is the one to return to.
  const [old, interrupted] = (await deployed()).toSorted((a, b) => a.createdMs - b.createdMs)
  if (old === undefined) return 'it has no deployment yet. Run npx weir deploy without --gradual'
  const restore = () => setShares(new Map([[old.id, 100]]))
  if (before !== 'live') {
    if (interrupted !== undefined) await restore()
    const result = interrupted === undefined ? 'Nothing was changed' : `All objects have version ${old.id} again`
    return `/status says ${JSON.stringify(before)} before the deploy. ${result}`
  }
  const added = await upload()
  for (const share of shares) {
    await setShares(
      share === 100
        ? new Map([[added, 100]])
        : new Map([
            [added, share],
            [old.id, 100 - share],
          ]),
    )
    log(`${share} % of the objects have version ${added}.`)
    await sleep(pauseMs)
    const after = await stateOf(ports)
    if (after === 'live') continue
    await restore()
    return `/status said ${JSON.stringify(after)} at ${share} %. All objects have version ${old.id} again`
  }
  return null
}

async function stateOf({ state, sleep }: GradualPorts): Promise<string> {
  let seen = await state()
  for (let left = READS - 1; seen !== 'live' && left > 0; left--) {
    await sleep(READ_PAUSE_MS)
    seen = await state()
  }
  return seen
}
