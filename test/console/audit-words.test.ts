import { describe, expect, it } from 'vitest'
import { actionText, inputText, outcomeText, targetOf } from '../../src/console/operator/audit-words.ts'
import { auditActions } from '../../src/console/operator/staff-strings.ts'
import { ENDPOINTS } from '../../src/http/platform/catalogue.ts'

const AUDITED = ENDPOINTS.filter(({ auth, method }) => auth === 'admin' && method !== 'get')

it('every audited operation has words', () => {
  expect(Object.keys(auditActions).sort()).toEqual(AUDITED.map(({ id }) => id).sort())
})

it.each([
  ['grantCredits', { body: { credits: 5000, idempotency_key: 'i' } }, 'Grant credits: 5,000'],
  ['createIncident', { body: { title: 'Late' } }, 'Post incident: Late'],
  ['updateIncident', { body: { state: 'in_progress' } }, 'Update incident: In progress'],
  ['createStaff', { body: {} }, 'Create staff token'],
  ['createStaff', { body: [1] }, 'Create staff token'],
  ['removePlan', {}, 'Remove plan'],
  ['ofANewerRelease', {}, 'ofANewerRelease'],
  ['constructor', {}, 'constructor'],
])('%s with %j is %j', (action, sent, expected) => {
  expect(actionText({ action, sent: JSON.stringify(sent) })).toBe(expected)
})

it('truncated input does not matter', () => {
  expect(actionText({ action: 'grantCredits', sent: '{"body":{"credits":5…' })).toBe('Grant credits')
})

it.each([
  ['{"body":{"plan":"entry","per_day":5,"days":null}}', 'Plan: entry, Per day: 5, Days: –'],
  ['{"query":{"after":"a"}}', '{"query":{"after":"a"}}'],
  ['{"body":{"credits":5…', '{"body":{"credits":5…'],
])('the input %s is %j', (sent, expected) => {
  expect(inputText({ sent })).toBe(expected)
})

it.each([
  [200, 'Succeeded'],
  [409, 'Failed (409)'],
  [null, 'Unknown'],
])('the outcome of %j is %j', (status, expected) => {
  expect(outcomeText({ status })).toBe(expected)
})

describe('the target', () => {
  const HASH = 'ab'.repeat(32)
  it.each([
    ['createKey', '', null],
    ['revokeKey', HASH, { text: HASH.slice(0, 12), page: 'search', params: { q: HASH } }],
    ['rotateKey', 'cqt_9fKxWq2T', { text: 'cqt_9fKxWq2T', page: 'search', params: { q: 'cqt_9fKxWq2T' } }],
    ['grantCredits', 'acme', { text: 'acme', page: 'account', params: { id: 'acme' } }],
    ['setPlan', 'entry', { text: 'entry', page: 'plans', params: {} }],
    ['changePlan', 'acme', { text: 'acme', page: 'account', params: { id: 'acme' } }],
    ['voidOrder', 'W-1-aaaa', { text: 'W-1-aaaa', page: 'orders', params: {} }],
    ['revokeStaff', 'kim', { text: 'kim', page: 'staff', params: {} }],
    ['updateIncident', '12', { text: '#12', page: 'incidents', params: {} }],
  ])('of %s %j leads to its page', (action, target, expected) => {
    expect(targetOf({ action, target })).toEqual(expected)
  })
})
