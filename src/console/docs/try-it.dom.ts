// Sends a request with the visitor’s own session, and shows what it cost and what came. Laws: only to this host; what
// comes is shown as text; nothing is kept.

import { element } from './element.dom.ts'

const SHOWN_CHARS = 100_000
/** Headers that say what a call cost and how old its answer is. */
const TOLD = [
  ['x-credits-cost', 'Credits'],
  ['x-credits-remaining', 'Left'],
  ['age', 'Age, s'],
  ['x-block-height', 'Block'],
  ['x-request-id', 'Request id'],
] as const

export function offerTrying(): void {
  const part = document.querySelector<HTMLElement>('.try')
  const form = part?.querySelector('form')
  const who = part?.querySelector<HTMLElement>('.who')
  const button = form?.querySelector('button')
  if (!part || !form || !who || !button) return
  form.hidden = false
  void visitor().then((words) => who.replaceChildren(...words))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    await send(form, part).catch((error: unknown) => {
      who.textContent = `It could not be sent: ${error instanceof Error ? error.message : error}`
    })
    button.disabled = false
  })
}

/** Who would send, in words. */
async function visitor(): Promise<(Node | string)[]> {
  const link = document.createElement('a')
  link.href = '/console'
  link.textContent = 'Sign in'
  const asked = await fetch('/session').then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  )
  if (asked === null) return [link, ' with a key of yours to send it from here; what it costs is charged to that key.']
  if (asked.role === 'owner')
    return [`As ${asked.account}: what it costs is charged to the key that you signed in with.`]
  return [`As ${asked.name}, an operator.`]
}

async function send(form: HTMLFormElement, part: HTMLElement): Promise<void> {
  const { method = 'GET', path = '/' } = form.dataset
  const data = new FormData(form)
  const body = data.get('body')
  const url = new URL(String(data.get('path') ?? path), location.origin)
  if (url.origin !== location.origin) throw new Error('the address must begin with /')
  const startedMs = performance.now()
  const answer = await fetch(url, {
    method,
    ...(body === null ? {} : { body: String(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await answer.text()
  const shown = part.querySelector<HTMLElement>('.answer')
  if (!shown) return
  const facts: [string, string][] = [
    ['Status', String(answer.status)],
    ['Time', `${Math.round(performance.now() - startedMs)} ms`],
    ...TOLD.flatMap(([header, name]): [string, string][] => {
      const value = answer.headers.get(header)
      return value === null ? [] : [[name, value]]
    }),
  ]
  shown.querySelector('dl')?.replaceChildren(...facts.map(factOf))
  shown.querySelector('pre')?.replaceChildren(readable(text))
  shown.hidden = false
}

function factOf([name, value]: [string, string]): HTMLElement {
  return element('div', element('dt', name), element('dd', value))
}

function readable(text: string): string {
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // It is no JSON: as it came.
  }
  return shown.length <= SHOWN_CHARS
    ? shown
    : `${shown.slice(0, SHOWN_CHARS)}\n… ${shown.length - SHOWN_CHARS} more characters`
}
