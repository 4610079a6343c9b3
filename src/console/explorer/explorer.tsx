// The API explorer: the types of POST /info, a form made from the schema of one, the request as JSON and as code, and its
// response. Invariant: nothing is sent before the visitor asks for it.

import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { navigate, params } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { LANGUAGES, postSamples, type Samples } from '../requests/code-samples.ts'
import {
  type FormInput,
  type RequestField,
  type RequestType,
  requestBody,
  sampleBody,
} from '../requests/request-form.ts'
import { type Answer, answerFacts, formattedBody, sendRequest } from '../requests/send.dom.ts'
import { withOrigin } from '../requests/served-origin.ts'
import { sizeText } from '../ui/format.ts'
import { CopyButton, QueryView } from '../ui/parts.tsx'
import { SampleTabs } from '../ui/sample-tabs.tsx'
import './explorer.css'
import * as strings from './explorer-strings.ts'
import { inputsOf, listedTypes, withType, withValue } from './form-address.dom.ts'

const FIRST_TYPE = 'l2Book'

export function Explorer() {
  const query = useQuery<readonly RequestType[]>(() => '/docs/requests.json')
  return (
    <>
      <h1>{strings.title}</h1>
      <p class="soft">{strings.intro}</p>
      <QueryView query={query} height={640}>
        {(types) => <Types types={types} />}
      </QueryView>
    </>
  )
}

const go = (query: URLSearchParams, how: 'push' | 'replace') => navigate(`${location.pathname}?${query}`, how)

function Types({ types }: { readonly types: readonly RequestType[] }) {
  const name = params.value.get('type') ?? FIRST_TYPE
  const chosen = types.find(({ type }) => type === name)
  return (
    <div class="explorer">
      <TypeList types={types} chosen={name} />
      {chosen === undefined ? <p class="note">{strings.unknownType(name)}</p> : <Builder key={name} type={chosen} />}
    </div>
  )
}

const INFO_PAGES = '/docs/info/'

function TypeList({ types, chosen }: { readonly types: readonly RequestType[]; readonly chosen: string }) {
  const typed = useSignal('')
  const search = useSignal<Search | null>(null)
  const isRequested = useRef(false)
  const load = async () => {
    if (isRequested.current) return
    isRequested.current = true
    search.value = await loadSearch().catch(() => null)
    isRequested.current = search.value !== null
  }
  const text = typed.value.trim()
  const groups = listedTypes(types, text === '' ? null : foundTypes(types, text, search.value))
  return (
    <nav class="types" aria-label={strings.types}>
      <label for="find-type">{strings.find}</label>
      <input
        id="find-type"
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onFocus={load}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <div class="list">
        {groups.length === 0 && <p class="soft">{strings.noTypes(text)}</p>}
        {groups.map(([group, listed]) => (
          <section key={group}>
            <h2>{group}</h2>
            <ul>
              {listed.map(({ type, summary }) => (
                <li key={type}>
                  <a
                    href={`?${withType(params.value, type)}`}
                    title={summary}
                    aria-current={type === chosen ? 'true' : undefined}
                    onClick={(event) => {
                      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
                      event.preventDefault()
                      go(withType(params.value, type), 'push')
                    }}
                  >
                    {type}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  )
}

/** The types that the search of the documentation finds. */
type Search = (text: string) => readonly string[]

async function loadSearch(): Promise<Search> {
  const [{ loadIndex, searchPages }, response] = await Promise.all([
    import('../docs/search.ts'),
    fetch('/docs/search.json'),
  ])
  if (!response.ok) throw new Error(response.statusText)
  const index = loadIndex(await response.text())
  return (text) =>
    searchPages(index, text, INFO_PAGES).map(({ address }) => address.slice(INFO_PAGES.length).replace(/#.*/, ''))
}

/** By name and summary, and by the search once it is loaded. */
function foundTypes(types: readonly RequestType[], text: string, search: Search | null): string[] {
  const words = text.toLowerCase()
  const named = types.filter(({ type, summary }) => `${type} ${summary}`.toLowerCase().includes(words))
  return [...named.map(({ type }) => type), ...(search?.(text) ?? [])]
}

function Builder({ type }: { readonly type: RequestType }) {
  const openedMs = useMemo(() => nowMs(), [])
  const answer = useSignal<Answer | { readonly reason: string } | null>(null)
  const isBusy = useSignal(false)
  const inputs = inputsOf(type, params.value, openedMs)
  const request = requestOf(type.type, inputs)
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || 'problem' in request) return
    isBusy.value = true
    answer.value = await sendRequest('POST', '/info', JSON.stringify(request.body)).catch((error: unknown) => ({
      reason: error instanceof Error ? error.message : String(error),
    }))
    isBusy.value = false
  }
  return (
    <div class="builder">
      <section class="card">
        <h2>{type.type}</h2>
        <p>
          {type.summary}. <span class="soft">{strings.price(type.price)}.</span>{' '}
          <a href={INFO_PAGES + type.type}>{strings.reference}</a>
        </p>
        <form onSubmit={send}>
          <Fields type={type} inputs={inputs} />
          <button type="submit" class="main" disabled={isBusy.value || 'problem' in request}>
            {isBusy.value ? strings.sending : strings.send}
          </button>
        </form>
        {'problem' in request ? (
          <p class="note trouble" role="alert">
            {request.problem}
          </p>
        ) : (
          <SampleTabs label={strings.tabs} samples={request.samples} />
        )}
      </section>
      <div role="status">{answer.value !== null && <Response answer={answer.value} />}</div>
    </div>
  )
}

type Built =
  | { readonly body: unknown; readonly samples: Readonly<Record<string, string>> }
  | { readonly problem: string }

function requestOf(type: string, inputs: readonly FormInput[]): Built {
  try {
    const body = requestBody({ type }, inputs)
    const code = postSamples('/info', sampleBody({ type }, inputs))
    const languages = Object.entries(LANGUAGES) as [keyof Samples, string][]
    const samples = languages.map(([language, name]) => [name, withOrigin(code[language], location.origin)])
    return { body, samples: { [strings.body]: JSON.stringify(body, null, 2), ...Object.fromEntries(samples) } }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function Fields({ type, inputs }: { readonly type: RequestType; readonly inputs: readonly FormInput[] }) {
  if (inputs.length === 0) return <p class="soft">{strings.noFields}</p>
  return (
    <fieldset class="fields">
      <legend class="unseen">{strings.fields}</legend>
      {type.fields.map((field, at) => (
        <Field
          key={field.name}
          field={field}
          text={inputs[at]?.text ?? ''}
          onChange={(text) => go(withValue(type, params.value, field.name, text), 'replace')}
        />
      ))}
    </fieldset>
  )
}

interface FieldProps {
  readonly field: RequestField
  readonly text: string
  readonly onChange: (text: string) => void
}

function Field({ field: { name, kind, choices, isRequired, description }, text, onChange }: FieldProps) {
  const id = `field-${name}`
  const own = {
    id,
    value: text,
    'aria-describedby': description === '' ? undefined : `${id}-meaning`,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value),
  }
  return (
    <div>
      <label for={id}>
        <code>{name}</code> {isRequired && <small>{strings.required}</small>}
      </label>
      {choices.length > 0 ? (
        <select {...own}>
          {[...(isRequired ? [] : ['']), ...choices].map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input {...own} inputMode={kind === 'number' ? 'numeric' : undefined} autocomplete="off" spellcheck={false} />
      )}
      {description !== '' && (
        <small class="soft" id={`${id}-meaning`}>
          {description.replaceAll('`', '')}
        </small>
      )}
    </div>
  )
}

function Response({ answer }: { readonly answer: Answer | { readonly reason: string } }) {
  if ('reason' in answer) return <p class="note trouble">{strings.failed(answer.reason)}</p>
  const body = formattedBody(answer.text)
  const facts = [...answerFacts(answer), [strings.size, sizeText(answer.bytes)] as const]
  return (
    <section class="card">
      <p class="beside">
        <b>{strings.response}</b>
        <CopyButton text={answer.text} />
      </p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>{strings.headers(answer.headers.length)}</summary>
        <dl class="headers">
          {answer.headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll the response. */}
      <pre class="answer" tabIndex={0}>
        {body}
      </pre>
    </section>
  )
}
