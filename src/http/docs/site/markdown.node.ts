// Markdown to HTML. Laws: HTML within Markdown is text; a heading has the place that forges give it; blocks of one call in
// several languages are shown one at a time, without a script.

import { Marked, type Tokens } from 'marked'
import { LANGUAGES } from './code-samples.ts'
import { escaped } from './layout.ts'
import { anchors } from './page.ts'

/** Of one page: tabs of a page need names of their own. */
export function markdownHtml(markdown: string): string {
  let groups = 0
  const anchor = anchors()
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escaped(text),
      heading({ tokens, depth, text }) {
        const id = anchor(text)
        const link = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      code: ({ text, lang = '' }) => blockHtml(text, lang),
      table(token) {
        const inline = (cell: Tokens.TableCell) => this.parser.parseInline(cell.tokens)
        // A header that says nothing is none.
        const head = token.header.map((cell) =>
          cell.text === '' ? '<td></td>' : `<th scope="col">${inline(cell)}</th>`,
        )
        const isBare = token.header.every(({ text }) => text === '')
        const rows = token.rows.map((row) => {
          const cells = row.map(inline).map((html, at) => `<td>${at === 0 ? breakable(html) : html}</td>`)
          return `<tr>${cells.join('')}</tr>`
        })
        const above = isBare ? '' : `<thead><tr>${head.join('')}</tr></thead>`
        return `<div class="scroll" tabindex="0"><table>${above}<tbody>${rows.join('\n')}</tbody></table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const html: string[] = []
  for (let at = 0; at < tokens.length; at++) {
    const group = groupAt(tokens, at)
    if (group.length < 2) {
      html.push(marked.parser(tokens.slice(at, at + 1)))
      continue
    }
    html.push(tabsHtml(group, ++groups))
    at += group.length * 2 - 2
  }
  return html.join('')
}

/** Long paths of fields break between names, and nowhere else; within tags nothing changes. */
const breakable = (html: string) =>
  html.replaceAll(/[^<>]+(?=<|$)(?![^<]*>)/g, (text) => text.replaceAll(/(?<=\w|\])([./])(?=\w)/g, '$1<wbr>'))

type Block = Tokens.Code

/** Blocks of different languages that follow each other from here, with nothing but space between. */
function groupAt(tokens: readonly { type: string }[], from: number): Block[] {
  const blocks: Block[] = []
  for (let at = from; at < tokens.length; at += 2) {
    const block = tokens[at] as Block
    const isNew =
      block.type === 'code' && (block.lang ?? '') in LANGUAGES && !blocks.some(({ lang }) => lang === block.lang)
    if (!isNew) break
    blocks.push(block)
    if (tokens[at + 1]?.type !== 'space') break
  }
  return blocks
}

function tabsHtml(blocks: readonly Block[], group: number): string {
  const inputs = blocks.map(({ lang }, at) => {
    const id = `code-${group}-${at}`
    const label = LANGUAGES[lang as keyof typeof LANGUAGES]
    return `<input type="radio" name="code-${group}" id="${id}"${at === 0 ? ' checked' : ''}><label for="${id}">${label}</label>`
  })
  const panels = blocks.map(({ text, lang = '' }) => blockHtml(text, lang))
  return `<div class="tabs">${inputs.join('')}${panels.join('')}</div>\n`
}

function blockHtml(text: string, lang: string): string {
  const html = lang === 'json' ? jsonHtml(text) : escaped(text)
  return `<pre tabindex="0"${lang === '' ? '' : ` data-language="${escaped(lang)}"`}><code>${html}</code></pre>\n`
}

/** Names of fields and texts in colours of their own. */
function jsonHtml(text: string): string {
  return escaped(text).replaceAll(
    /(&quot;(?:[^&\\]|\\.|&(?!quot;))*&quot;)(\s*:)?/g,
    (_, string: string, colon = '') => {
      return `<span class="${colon === '' ? 's' : 'k'}">${string}</span>${colon}`
    },
  )
}
