import { expect, it } from 'vitest'
import { signUpWarning } from '../../src/console/operator/sign-up-warning.ts'
import { signUpWarningUnknownNetworks } from '../../src/console/operator/strings.ts'

const spread = { networks: 12, most_of_network: 20, domains: 9, most_of_domain: 90 }
const of = (links: number) => ({ per_day: 200, links, ...spread })

it('warns after three quarters of the daily links, with the number of networks and domains', () => {
  expect(signUpWarning(null)).toBeNull()
  expect(signUpWarning(of(149))).toBeNull()
  expect(signUpWarning(of(150))).toMatch(/^150 of 200 .* 12 networks, at most 20 .* 9 .* at most 90 /)
  expect(signUpWarning(of(200))).toMatch(/"perDay" in SIGNUP_SETTINGS/)
  expect(signUpWarning({ ...of(200), networks: 0 })).toContain(signUpWarningUnknownNetworks)
})
