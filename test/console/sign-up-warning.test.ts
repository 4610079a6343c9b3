import { expect, it } from 'vitest'
import { signUpWarning } from '../../src/console/operator/sign-up-warning.ts'

const spread = { networks: 12, most_of_network: 20, domains: 9, most_of_domain: 90 }
const of = (links: number) => ({ per_day: 200, links, ...spread })

it('tells the operator from three quarters of the day’s links on, and by how many networks', () => {
  expect(signUpWarning(null)).toBeNull()
  expect(signUpWarning(of(149))).toBeNull()
  expect(signUpWarning(of(150))).toMatch(/^150 of 200 .* 12 networks, at most 20 .* 9 domains, at most 90 /)
  expect(signUpWarning(of(200))).toMatch(/Only owners of accounts get links now\. Raise "perDay"/)
  expect(signUpWarning({ ...of(200), networks: 0 })).toMatch(/by networks that are not known/)
})
