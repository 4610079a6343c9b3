// The check of English finds what it is for, in comments, strings, labels, documents and subjects of commits.
import { expect, it } from 'vitest'
import { findingsOf, type Prose, proseOf, proseOfDocument, proseOfLineComments } from '../../scripts/english.ts'

const rules = (prose: readonly Prose[]) =>
  prose.flatMap(findingsOf).map(({ line, rule }) => `${line} ${rule.split(':')[0]}`)

it('reads comments, sentences in strings and JSX, and names', () => {
  const source = `// Of what is never kept, only
// what its source was asked for.
const message = 'mend the requests before you go on'
const query = 'SELECT told FROM messages WHERE told = 1'
/** Law: the balance never goes below zero. */
export class CreditPurse {}
const page = <p>Nobody is told when credits run low.</p>
`
  expect(rules(proseOf(source, true))).toEqual(['1 subject', '3 word', '5 word', '6 name', '7 word'])
})

it('reads paragraphs, lists and tables of a document, not its code', () => {
  const document = [
    '# What it says',
    '',
    'Fix `told` first.',
    '',
    '```',
    'told',
    '```',
    '',
    '- It was told.',
    '',
    '| a | b |',
    '|---|---|',
    '| anew | `anew` |',
    '',
  ]
  expect(rules(proseOfDocument(document.join('\n')))).toEqual(['1 subject', '9 word', '11 word'])
})

it.each([
  ['Whoever runs this gateway makes one.', 2],
  ['What answers first wins.', 1],
  ['What is a lease?', 0],
  ['What you see', 0],
  [`${'one word and '.repeat(11)}end.`, 1],
  [`Return \`${'one word and '.repeat(11)}\` at the end.`, 0],
  ['The relay sends every block once. The client acknowledges it.', 0],
  ['The colour of a cancelled order', 2],
])('counts in “%s” %i findings', (text, count) => {
  expect(findingsOf({ kind: 'document', line: 1, text })).toHaveLength(count)
})

it.each([
  ['fix(relay): close a socket that never reads', 0],
  ['feat(pipelines)!: require a destination name', 0],
  ['four comments in plain words', 1],
  ['fix(test): a port of its own is none that systems hand out', 1],
  ['refactor(core): 300 lines shorter', 1],
  ['docs(relay): mend what clients are told', 2],
])('counts in the subject “%s” %i findings', (text, count) => {
  expect(findingsOf({ kind: 'subject', line: 0, text })).toHaveLength(count)
})

it('finds them in comments of SQL and TOML', () => {
  const lines = [
    '-- Whoever signed up.',
    'CREATE TABLE t (',
    '  -- What was told.',
    '  -- The rest.',
    '  a TEXT',
    ');',
    '# mend',
  ]
  expect(rules(proseOfLineComments(`${lines.join('\n')}\n`))).toEqual([
    '1 word',
    '1 subject',
    '3 word',
    '3 subject',
    '7 word',
  ])
})
