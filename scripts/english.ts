// Checks the English of comments, messages and labels in the code, of documents, and of commit subjects. It is a step of
// `npm run check`. `node scripts/english.ts PATH…` checks only the files whose path starts with one of the arguments.

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import jsTokens from 'js-tokens'
import { lexer, type Token, walkTokens } from 'marked'

export interface Prose {
  readonly line: number
  readonly kind: 'comment' | 'text' | 'document' | 'name' | 'subject'
  readonly text: string
}

export interface Finding {
  readonly line: number
  readonly rule: string
  readonly excerpt: string
}

const SENTENCE_WORDS = 32
const SUBJECT_CHARACTERS = 120

/** Words that technical English does not use, each with a replacement. */
const WORDS: Readonly<Record<string, string>> = {
  anew: 'again',
  begun: 'started',
  'bethought|betook|wherefrom|whereto|wherewith|thereof|hereof|thereto': 'a plain word',
  carousel: 'shared snapshot scan',
  'desks?': 'service',
  'doors?': 'endpoint, route, or auth',
  'entrances?': 'source or entry point',
  'hearers?': 'listener',
  'keepers?': 'heartbeat, or what it stores',
  leavings: 'pending unsubscribes',
  'mend(?:s|ed|ing)?': 'fix',
  'of late': 'recently',
  'purses?': 'lease',
  'riders?': 'waiter',
  'told(?! apart)': 'sent, notified, reported',
  whoever: 'the caller, client, owner, or operator',
  whomever: 'the caller, client, owner, or operator',
  'so that of': 'a sentence with a subject',
  'Law:': 'Invariant:',
}

const BRITISH: Readonly<Record<string, string>> = {
  'cancelled|cancelling': 'canceled, canceling',
  'colours?|coloured': 'color',
  'behaviours?': 'behavior',
  'honours?|honoured': 'honor',
  'favours?|favoured': 'favor',
  'labelled|labelling': 'labeled',
  'authoris(?:e|es|ed|er|ation)': 'authorize',
  'organis(?:e|es|ed|ation)': 'organize',
  'recognis(?:e|es|ed|able)': 'recognize',
  'normalis(?:e|es|ed|ation)': 'normalize',
  'summaris(?:e|es|ed)': 'summarize',
  'serialis(?:e|es|ed|ation)': 'serialize',
  'initialis(?:e|es|ed|ation)': 'initialize',
  'materialis(?:e|es|ed)': 'materialize',
  'neighbours?|neighbouring': 'neighbor',
  'whilst|amongst': 'while, among',
  'licences?': 'license',
  grey: 'gray',
  'centred?|centres?': 'center',
}

/** Names that we coined although an established name exists, and participles used as nouns. */
const METAPHORS =
  /desk|purse|entrance|keeper|hearers?(?![a-z])|leavings|carousel|(?<![a-z])rider(?![a-z])|(?<![a-z])told|(?<![a-z])doors?(?![a-z])/i
const PARTICIPLES =
  /^#?(?:asked|wanted|tell)$|^(?:Asked|Wanted|Told|Held|Kept|Answered|Entered|Made|Shown|Said|Heard|Taken|Begun|Opened|Left|Past)$/

/** A clause used as the subject of a sentence. */
const CLAUSE_SUBJECT =
  /^(?:Of (?:what|which|whom|all|it|these|those)\b|Who(?:ever| (?:is|has|asks|waits|does|was))\b|Whom\b|What (?!you\b))/

/** Keys of stored records and of REST bodies, which do not change. */
const FIXED_NAMES: ReadonlySet<string> = new Set(['told'])

export function findingsOf({ kind, line, text }: Prose): Finding[] {
  if (kind === 'name')
    return !FIXED_NAMES.has(text) && (METAPHORS.test(text) || PARTICIPLES.test(text))
      ? [{ line, rule: 'name: a metaphor or a participle', excerpt: text }]
      : []
  if (kind === 'subject') return subjectFindings(text)
  const findings: Finding[] = []
  for (const sentence of sentencesOf(text)) {
    const found = (rule: string) => findings.push({ line, rule, excerpt: sentence.slice(0, 110) })
    for (const rule of wordRules(sentence)) found(rule)
    if (CLAUSE_SUBJECT.test(sentence) && !sentence.endsWith('?'))
      found('subject: name the actor or the thing, not a clause')
    const words = wordsIn(sentence)
    if (words > SENTENCE_WORDS) found(`length: ${words} words in a sentence, at most ${SENTENCE_WORDS}`)
  }
  return findings
}

function subjectFindings(text: string): Finding[] {
  const found = (rule: string): Finding => ({ line: 0, rule, excerpt: text })
  const summary = /^(?:[a-z]+(?:\([\w, /.-]+\))?!?(?:, )?)+: (.*)$/.exec(text)?.[1]
  if (summary === undefined) return [found('subject: type(scope): imperative summary')]
  return [
    ...wordRules(text).map(found),
    ...(text.length > SUBJECT_CHARACTERS ? [found(`subject: at most ${SUBJECT_CHARACTERS} characters`)] : []),
    ...(/^(?:an?|the|what|who|one|two|it|there|of)\b|^\w+(?:ed|ing)\b/i.test(summary)
      ? [found('subject: begin with a verb: add, fix, return')]
      : []),
    ...(/\b(?:fewer|less) (?:lines|code)\b|\d+ lines (?:less|fewer|shorter)\b/i.test(summary)
      ? [found('subject: say what changes, not how many lines')]
      : []),
  ]
}

const RULES = [...Object.entries(WORDS), ...Object.entries(BRITISH)].map(([words, better]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, words === 'Law:' ? '' : 'i'),
  better,
}))

const wordRules = (sentence: string) =>
  RULES.flatMap(({ pattern, better }) => {
    const [word] = pattern.exec(sentence) ?? []
    return word === undefined ? [] : [`word: “${word}”, write ${better}`]
  })

const wordsIn = (sentence: string) => sentence.split(/\s+/).filter((word) => /\p{L}|\d/u.test(word)).length

/** Quoted code counts as one word. */
function sentencesOf(text: string): string[] {
  return (
    text
      .replaceAll(/`[^`]*`/g, 'CODE')
      // Diagrams are not sentences.
      .replaceAll(/^.*(?:[─▶│┌└→]|\bTAB\b).*$/gm, '')
      .split(/(?<=[.!?:;]["”)]?)\s+|\n\s*\n|\n\s*(?=[-*|] )| \| /)
      .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
      .filter((sentence) => sentence !== '')
  )
}

/** Returns the comments of a TypeScript file, its strings that are sentences, and its names. */
export function proseOf(source: string, isJsx: boolean): Prose[] {
  const prose: Prose[] = []
  const names = new Set<string>()
  let line = 1
  let comment: { line: number; end: number; text: string } | null = null
  for (const { type, value } of jsTokens(source, { jsx: isJsx })) {
    const lines = value.split('\n').length - 1
    if (type === 'SingleLineComment' && comment !== null && line === comment.end + 1) {
      comment.text += `\n${value.slice(2).trim()}`
      comment.end = line
    } else if (type === 'SingleLineComment' || type === 'MultiLineComment') {
      if (comment !== null) prose.push({ line: comment.line, kind: 'comment', text: comment.text })
      comment = { line, end: type === 'MultiLineComment' ? -1 : line, text: commentText(value) }
    } else if (/^(?:StringLiteral|NoSubstitutionTemplate|Template(?:Head|Middle|Tail)|JSXText|JSXString)$/.test(type)) {
      if (isSentence(value)) prose.push({ line, kind: 'text', text: value.replaceAll(/^['"`}]|(?:['"`]|\$\{)$/g, '') })
    } else if (/^(?:IdentifierName|PrivateIdentifier|JSXIdentifier)$/.test(type) && !names.has(value)) {
      names.add(value)
      prose.push({ line, kind: 'name', text: value })
    }
    line += lines
  }
  if (comment !== null) prose.push({ line: comment.line, kind: 'comment', text: comment.text })
  return prose.sort((a, b) => a.line - b.line)
}

/** Returns the comments of an SQL or TOML file. */
export function proseOfLineComments(source: string): Prose[] {
  return [...source.matchAll(/(?:^[ \t]*(?:--|#) .*\n)+/gm)].map(({ 0: comment, index }) => ({
    line: source.slice(0, index).split('\n').length,
    kind: 'comment',
    text: comment.replaceAll(/^[ \t]*(?:--|#) /gm, ''),
  }))
}

/** Returns the text of a comment without its marks, directives and code blocks. */
const commentText = (comment: string) =>
  /^\/\/ (?:biome-ignore|@ts-|#)/.test(comment)
    ? ''
    : comment
        .replaceAll(/^\/\*+|\*\/$|^\/\/ ?/g, '')
        .replaceAll(/^\s*\* ?/gm, '')
        .replaceAll(/```[\s\S]*?```/g, '')

/** True for a string of three or more words, unless it is SQL, markup or a list of coins. */
const isSentence = (text: string) =>
  /\p{L}{2,}[,]? [\p{L}\d`“’']+.* \p{L}/u.test(text) &&
  /\p{Ll}{2,} \p{Ll}/u.test(text) &&
  !/<\/?\w+[ >]/.test(text) &&
  !/\b(?:SELECT|INSERT|UPDATE|DELETE FROM|CREATE|ALTER|PRAGMA|FROM \w+ WHERE|WHERE \w+ (?:=|>=)|AS \w+,|AND \w+ (?:[<>]?=|[<>]))/.test(
    text,
  )

/** Generated parts come from strings in the code, which are checked there. */
const withoutGenerated = (markdown: string) =>
  markdown.replaceAll(/<!-- ([\w ]+) -->[\s\S]*?<!-- \/\1 -->/g, (part) => part.replaceAll(/[^\n]/g, ''))

/** Returns the prose of a Markdown document, without code and addresses. */
export function proseOfDocument(markdown: string): Prose[] {
  const prose: Prose[] = []
  let line = 1
  for (const token of lexer(withoutGenerated(markdown))) {
    const start = line
    line += token.raw.split('\n').length - 1
    if (
      token.type === 'table' ||
      token.type === 'list' ||
      token.type === 'paragraph' ||
      token.type === 'heading' ||
      token.type === 'blockquote'
    )
      for (const text of textsOf(token)) prose.push({ line: start, kind: 'document', text })
  }
  return prose
}

function textsOf(token: Token): string[] {
  const texts: string[] = []
  const visible = (tokens: readonly Token[] | undefined): string =>
    (tokens ?? [])
      .map((each) =>
        each.type === 'codespan'
          ? 'CODE'
          : 'tokens' in each && each.tokens !== undefined
            ? visible(each.tokens)
            : 'text' in each && each.type !== 'html'
              ? String(each.text)
              : '',
      )
      .join('')
  walkTokens([token], (each) => {
    if (
      each.type === 'paragraph' ||
      each.type === 'heading' ||
      (each.type === 'text' && 'tokens' in each && each.tokens !== undefined)
    )
      texts.push(visible(each.tokens))
    if (each.type === 'table')
      for (const cell of [...each.header, ...each.rows.flat()]) texts.push(visible(cell.tokens))
  })
  return texts
}

/** Subjects of the commits since this check was added. */
function subjects(): Prose[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const first = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/english.ts').split('\n').at(-1)
    if (!first) return []
    return git('log', '--no-merges', '--format=%s', `${first}..HEAD`)
      .split('\n')
      .filter(Boolean)
      .map((text) => ({ line: 0, kind: 'subject', text }))
  } catch {
    // The source tree has no history, for example because it was downloaded.
    return []
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const below = process.argv.slice(2)
  const files = globSync([
    'src/**/*.{ts,tsx}',
    'scripts/*.{ts,mjs}',
    'docs/**/*.md',
    '*.md',
    'examples/**/*.{md,ts}',
    'schemas/storage.md',
    'schemas/d1/**/*.sql',
    'wrangler*.toml',
  ])
    .filter(
      (path) => path !== 'scripts/english.ts' && (below.length === 0 || below.some((part) => path.startsWith(part))),
    )
    .sort()
  const findings = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const prose = path.endsWith('.md')
      ? proseOfDocument(text)
      : /\.(?:sql|toml)$/.test(path)
        ? proseOfLineComments(text)
        : proseOf(text, path.endsWith('x'))
    return prose.flatMap(findingsOf).map((finding) => ({ path, ...finding }))
  })
  if (below.length === 0)
    findings.push(
      ...subjects()
        .flatMap(findingsOf)
        .map((finding) => ({ path: 'commit', ...finding })),
    )
  for (const { path, line, rule, excerpt } of findings)
    console.error(`${path}:${line} ${rule}: ${JSON.stringify(excerpt)}`)
  if (findings.length > 0)
    console.error(`${findings.length} findings in ${new Set(findings.map(({ path }) => path)).size} files.`)
  process.exitCode = findings.length > 0 ? 1 : 0
}
