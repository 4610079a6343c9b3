// A page for each type of `POST /info`, made of its definition, of what its file and docs/info.md say of it.

import { parseWith } from '../../../core/schema-words.ts'
import type { AnyQuery } from '../../../info/query.ts'
import { INFO_REFUSALS, typeDocumentPath } from '../openapi.ts'
import { freshnessText, priceText, sourceText } from '../query-text.ts'
import { postCode } from './code-samples.ts'
import { fieldRows, fieldTable, typeOf } from './field-table.ts'
import { block, code, joined, jsonText, notesPart, type Page, table } from './page.ts'

/** What people wrote. */
export interface InfoProse {
  /** By type: what its own file says of it. */
  readonly notes: ReadonlyMap<string, string | null>
  /** Paragraphs and points of docs/info.md. */
  readonly paragraphs: readonly string[]
}

export function infoPages(queries: readonly AnyQuery[], prose: InfoProse): Page[] {
  return [...queries]
    .sort((a, b) => (a.type.toLowerCase() < b.type.toLowerCase() ? -1 : 1))
    .map((query) => infoPage(query, prose))
}

function infoPage(query: AnyQuery, prose: InfoProse): Page {
  const { type, summary, example, request, response } = query
  const asked = { type, ...example.request }
  const rows = fieldRows(request)
  const answer = fieldRows(response)
  return {
    address: `/docs/info/${type}`,
    title: type,
    summary,
    section: 'info',
    keywords: rows.map(({ path }) => path),
    request: { method: 'POST', path: '/info', body: JSON.stringify(asked) },
    markdown: joined([
      `# ${type}\n\n${summary}.`,
      table(
        ['Credits', 'Freshness', 'Answered from', 'Asked with'],
        [
          [
            priceText(query),
            freshnessText(query),
            sourceText(query),
            '`POST /info`, or `post` on [a socket](/docs/ws-protocol#post)',
          ],
        ],
      ),
      `## Request\n\n${fieldTable(rows, true)}\n\nFields that are not in this table are ignored.`,
      `## Example\n\nAsked:\n\n${block('json', jsonText(asked))}\n\nAnswered:\n\n${block('json', jsonText(example.response))}`,
      `## Code\n\n${postCode('/info', asked)}`,
      `## Answer\n\n${answerIntro(query)}${answer.length === 0 ? '' : `\n\n${fieldTable(answer, false)}`}`,
      `## Errors\n\n${errors(query)}`,
      notes(type, prose),
    ]),
  }
}

function answerIntro({ type, response }: AnyQuery): string {
  return `As a whole: ${typeOf(response)}. Answers may gain fields; [headers](/docs/info#what-a-reply-says) tell cost and age. [OpenAPI of this type](${typeDocumentPath(type)}).`
}

/** What a request without its fields is told, in the very words, and every status. */
function errors({ type, request }: AnyQuery): string {
  const told = parseWith(request, { type })
  const missing = told.ok
    ? ''
    : `${told.error.map(({ path, message }) => code(`${path}: ${message}`)).join(', ')} is what a request without its required fields is told, with a 422. `
  return `${missing}A refusal costs nothing; its \`msg\` names the field and the fix, its \`code\` is for programs: [all of them](/docs/info#refusals).\n\n${table(['Status', 'When'], Object.entries(INFO_REFUSALS))}`
}

function notes(type: string, { notes: own, paragraphs }: InfoProse): string {
  const named = paragraphs.filter((text) => text.includes(`\`${type}\``))
  const note = own.get(type)
  const equal = note?.includes('ire-equal')
    ? `\n\n*Wire-equal*: the answer is what the exchange’s public API answers, field by field.`
    : ''
  return `${notesPart([note, ...named])}${equal}`
}
