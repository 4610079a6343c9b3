// Gradual deploys of the live Worker against a scripted Cloudflare and a scripted `/status`.

import { describe, expect, it } from 'vitest'
import { deployGradually, Shares } from '../../../src/cli/deploy/gradual.ts'

class Account {
  readonly steps: (readonly [string, number][])[] = []
  readonly pauses: number[] = []
  states: string[] = []
  versions = [{ id: 'old', createdMs: 1 }]

  run(shares: readonly number[]): Promise<string | null> {
    return deployGradually(
      { shares, pauseMs: 5 },
      {
        deployed: async () => this.versions,
        upload: async () => 'new',
        setShares: async (versions) => void this.steps.push([...versions]),
        state: async () => this.states.shift() ?? 'live',
        sleep: async (ms) => void this.pauses.push(ms),
        log: () => undefined,
      },
    )
  }
}

describe('a gradual deploy', () => {
  it('moves the objects in steps and pauses after each', async () => {
    const account = new Account()
    expect(await account.run([10, 50, 100])).toBeNull()
    expect(account.steps).toEqual([
      [
        ['new', 10],
        ['old', 90],
      ],
      [
        ['new', 50],
        ['old', 50],
      ],
      [['new', 100]],
    ])
    expect(account.pauses).toEqual([5, 5, 5])
  })

  it.each([
    [['live', 'silent', 'silent', 'silent'], 10],
    [['live', 'live', 'live', 'no answer', 'no answer', 'no answer'], 100],
  ])('returns all objects to the old version if the feed is not live: %j', async (states, share) => {
    const account = new Account()
    account.states = [...states]
    expect(await account.run([10, 50, 100])).toMatch(new RegExp(`${states.at(-1)}.* ${share} %.*old again`))
    expect(account.steps.at(-1)).toEqual([['old', 100]])
  })

  it('changes nothing if the feed is not live before', async () => {
    const account = new Account()
    account.states = ['silent', 'silent', 'silent']
    expect(await account.run([100])).toMatch(/silent.*Nothing was changed/)
    expect(account.steps).toEqual([])
  })

  it('reads the state again, so that one lost answer stops nothing', async () => {
    const account = new Account()
    account.states = ['no answer', 'no answer', 'live', 'no answer', 'live']
    expect(await account.run([100])).toBeNull()
    expect(account.steps).toEqual([[['new', 100]]])
    expect(account.pauses).toEqual([5_000, 5_000, 5, 5_000])
  })

  it('continues an interrupted one, and returns to the version before that', async () => {
    const account = new Account()
    account.versions = [
      { id: 'interrupted', createdMs: 2 },
      { id: 'old', createdMs: 1 },
    ]
    account.states = ['live', 'silent', 'silent', 'silent']
    await account.run([10, 100])
    expect(account.steps).toEqual([
      [
        ['new', 10],
        ['old', 90],
      ],
      [['old', 100]],
    ])
    account.steps.length = 0
    account.states = ['silent', 'silent', 'silent']
    expect(await account.run([10, 100])).toMatch(/silent.*before the deploy.*old again/)
    expect(account.steps).toEqual([[['old', 100]]])
  })
})

describe('shares', () => {
  it('increase to 100', () => {
    expect(Shares.parse('10,50,100')).toEqual([10, 50, 100])
    for (const wrong of ['', '10,50', '50,10,100', '0,100', '10,10,100', '10,200', 'all', '10, 100'])
      expect(Shares.safeParse(wrong).success, wrong).toBe(false)
  })
})
