// The GraphQL page: editor, results and schema. Invariant: nothing is charged before the visitor runs a document.

import { useSignal } from '@preact/signals'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { useEffect, useRef } from 'preact/hooks'
import { params } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { CopyButton, Reserved } from '../ui/parts.tsx'
import { clearHistory, type Entry, keepDraft, keepRun, kept } from './document-history.dom.ts'
import { createEditor, type Editor } from './editor.dom.ts'
import './playground.css'
import * as strings from './playground-strings.ts'
import { run, startRun, stopRun } from './run.dom.ts'
import { SchemaDocs } from './schema-docs.tsx'
import { firstSubscription } from './selection.ts'

const FIRST = 'trades'

export function Playground() {
  const schema = useSignal<GraphQLSchema | 'failed' | null>(null)
  useEffect(() => {
    loadSchema().then(
      (loaded) => {
        schema.value = loaded
      },
      () => {
        schema.value = 'failed'
      },
    )
    return stopRun
  }, [])
  return (
    <>
      <h1>{strings.title}</h1>
      <p class="soft">
        {strings.intro} <a href="/docs/reference/graphql">{strings.reference}</a>
      </p>
      {schema.value === 'failed' ? (
        <p class="note trouble" role="alert">
          {strings.noSchema}
        </p>
      ) : (
        <Reserved height={640} isLoading={schema.value === null}>
          {schema.value !== null && <Workbench schema={schema.value} />}
        </Reserved>
      )}
    </>
  )
}

async function loadSchema(): Promise<GraphQLSchema> {
  const response = await fetch('/graphql/schema.graphql')
  if (!response.ok) throw new Error(response.statusText)
  return buildSchema(await response.text(), { assumeValidSDL: true })
}

/** The subscription that the address names, the document edited last in this tab, or an example. */
function firstEntry(schema: GraphQLSchema): Entry {
  const named = firstSubscription(schema, params.peek().get('subscription') ?? '')
  if (named !== null) return { query: named, variables: '' }
  return kept.peek().draft ?? { query: firstSubscription(schema, FIRST) ?? '', variables: '' }
}

function Workbench({ schema }: { readonly schema: GraphQLSchema }) {
  const prices = useQuery<Readonly<Record<string, string>>>(() => '/docs/channel-prices.json')
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const query = useSignal('')
  const variables = useSignal('')
  const key = useSignal('')
  const problem = useSignal('')
  const start = () => {
    const values = variablesOf(variables.value)
    problem.value = values === undefined ? strings.badVariables : ''
    if (values === undefined) return
    keepRun({ query: query.value, variables: variables.value })
    void startRun(query.value, values, key.value.trim())
  }
  const show = (entry: Entry) => {
    variables.value = entry.variables
    editor.current?.replace(entry.query)
  }
  useEffect(() => {
    const first = firstEntry(schema)
    query.value = first.query
    variables.value = first.variables
    if (host.current === null) return
    const created = createEditor(host.current, {
      text: first.query,
      label: strings.document,
      schema,
      onChange: (text) => {
        query.value = text
        keepDraft({ query: text, variables: variables.value })
      },
      onRun: start,
    })
    editor.current = created
    return created.destroy
  }, [schema])
  return (
    <div class="playground">
      <div>
        <section class="card">
          <div class="editor" ref={host} />
          <label for="variables">{strings.variables}</label>
          <textarea
            id="variables"
            rows={2}
            spellcheck={false}
            value={variables.value}
            onInput={(event) => {
              variables.value = event.currentTarget.value
              keepDraft({ query: query.value, variables: variables.value })
            }}
          />
          <Controls onStart={start} />
          {problem.value !== '' && (
            <p class="note trouble" role="alert">
              {problem.value}
            </p>
          )}
          <details>
            <summary>{strings.key}</summary>
            <p class="soft">{strings.keyHint}</p>
            <label for="graphql-key">{strings.keyLabel}</label>
            <input id="graphql-key" type="password" autocomplete="off" {...bindInput(key)} />
          </details>
        </section>
        <Results price={priceOf(query.value, prices.value.value ?? {})} />
      </div>
      <aside>
        <section class="card schema">
          <h2>{strings.docs}</h2>
          <SchemaDocs
            schema={schema}
            prices={prices.value.value ?? {}}
            onInsert={(name) => show({ query: firstSubscription(schema, name) ?? '', variables: '' })}
          />
        </section>
        <History onChoose={show} />
      </aside>
    </div>
  )
}

/** Undefined if the text is not a JSON object. */
function variablesOf(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Of the first subscription that the document names; empty for queries, which are free. */
function priceOf(query: string, prices: Readonly<Record<string, string>>): string {
  if (!/\bsubscription\b/.test(query)) return ''
  const name = query.match(/\w+/g)?.find((word) => Object.hasOwn(prices, word))
  return name === undefined ? '' : strings.priceOf(name, prices[name] ?? '')
}

function Controls({ onStart }: { readonly onStart: () => void }) {
  const { state } = run.value
  const isActive = state === 'connecting' || state === 'running'
  return (
    <p class="beside">
      <Button text={strings.run} class="main" disabled={isActive} onClick={onStart} />
      <Button text={strings.stop} disabled={!isActive} onClick={stopRun} />
      <kbd class="soft">{strings.runHint}</kbd>
    </p>
  )
}

function Results({ price }: { readonly price: string }) {
  const { state, results, count, firstMs, problem } = run.value
  const facts = [strings.received(count), firstMs === null ? '' : strings.first(firstMs), price]
  return (
    <section class="card">
      <h2>{strings.results}</h2>
      <p>
        <b role="status">{strings.states[state]}</b> · {facts.filter((fact) => fact !== '').join(' · ')}
      </p>
      {problem !== null && (
        <p class="note trouble" role="alert">
          {problem}
        </p>
      )}
      {count > results.length && <p class="soft">{strings.cut(results.length)}</p>}
      {state === 'idle' && <p class="soft">{strings.noResults}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll the results. */}
      <div class="results" tabIndex={0} hidden={results.length === 0}>
        {results.map(({ number, ms, text }) => (
          <article key={number}>
            <p class="beside">
              <b>
                {number}. <span class="soft">+{(ms / 1_000).toFixed(2)} s</span>
              </b>
              <CopyButton text={text} />
            </p>
            <pre>{text}</pre>
          </article>
        ))}
      </div>
    </section>
  )
}

function History({ onChoose }: { readonly onChoose: (entry: Entry) => void }) {
  const { entries } = kept.value
  return (
    <section class="card">
      <h2>{strings.history}</h2>
      {entries.length === 0 ? (
        <p class="soft">{strings.historyEmpty}</p>
      ) : (
        <>
          <ul class="entries">
            {entries.map((entry) => (
              <li key={entry.query + entry.variables}>
                <Button
                  text={entry.query.replaceAll(/\s+/g, ' ').slice(0, 80)}
                  class="plain"
                  title={entry.query}
                  onClick={() => onChoose(entry)}
                />
              </li>
            ))}
          </ul>
          <Button text={strings.historyClear} class="plain" onClick={clearHistory} />
        </>
      )}
    </section>
  )
}
