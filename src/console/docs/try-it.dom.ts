// The form that sends a request with the visitor’s session. The code samples of the page follow it. It stores nothing.

import { type FormInput, requestBody, requestPath, textsOf } from '../requests/request-form.ts'
import { answerFacts, formattedBody, sendRequest } from '../requests/send.dom.ts'
import { TRY_IT } from './strings.ts'

type Input = HTMLInputElement | HTMLSelectElement

export function setUpTryIt(): void {
  const section = document.querySelector<HTMLElement>('.try')
  const form = section?.querySelector('form')
  if (!section || !form) return
  for (const input of inputsOf(form))
    if (input.dataset.ago !== undefined) {
      input.value = String(Date.now() - Number(input.dataset.ago))
      input.dataset.first = input.value
    }
  setUpRaw(form)
  form.addEventListener('input', () => void followForm(form))
  const who = form.querySelector('.who')
  const button = form.querySelector('button')
  if (!who || !button) return
  const refresh = async () => {
    const visitor = form.dataset.public === undefined ? await visitorText() : TRY_IT.free
    button.hidden = visitor === null
    who.replaceChildren(...(visitor === null ? [signInLink()] : [visitor]))
  }
  void refresh()
  // The visitor may have signed in on another page.
  addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void refresh()
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.hidden) return
    button.disabled = true
    await showAnswer(form, section).catch((error: unknown) => {
      who.textContent = TRY_IT.failed(error instanceof Error ? error.message : String(error))
    })
    button.disabled = false
  })
}

const inputsOf = (form: HTMLFormElement) => [...form.querySelectorAll<Input>('.fields :is(input, select)')]

const valuesOf = (form: HTMLFormElement): FormInput[] =>
  inputsOf(form).map(({ name, dataset: { place = '', kind = '', required, ago, first }, value }) => {
    const agoMs = ago !== undefined && value === first ? Number(ago) : null
    return { name, place, kind, text: value, isRequired: required !== undefined, agoMs }
  })

/** Rewrites the code samples. Their code is loaded at the first change. */
async function followForm(form: HTMLFormElement): Promise<void> {
  const { method = 'GET', path = '/', base, secret } = form.dataset
  if (secret === undefined) return
  const { showSamples } = await import('./follow-form.dom.ts')
  const raw = form.querySelector<HTMLInputElement>('.switch input')?.checked
    ? (form.querySelector('textarea')?.value ?? '')
    : null
  const inputs = valuesOf(form)
  const common = { method, path: requestPath(path, inputs), secret }
  showSamples({ ...common, base: base === undefined ? null : JSON.parse(base), inputs, raw })
}

const bodyOf = (form: HTMLFormElement) => requestBody(JSON.parse(form.dataset.base ?? '{}'), valuesOf(form))

/** The switch between one input for each field, and the whole body as JSON. Each takes over the values of the other. */
function setUpRaw(form: HTMLFormElement): void {
  const box = form.querySelector<HTMLInputElement>('.switch input')
  const raw = form.querySelector<HTMLElement>('.raw')
  const text = raw?.querySelector('textarea')
  const fields = form.querySelector<HTMLFieldSetElement>('.fields')
  if (!box || !raw || !text || !fields) return
  box.checked = false
  box.addEventListener('change', () => {
    if (box.checked) text.value = JSON.stringify(bodyOf(form), null, 2)
    else fillInputs(form, text.value)
    raw.hidden = !box.checked
    fields.hidden = box.checked
    fields.disabled = box.checked
  })
}

/** Leaves the inputs as they are if the text is not JSON. */
function fillInputs(form: HTMLFormElement, json: string): void {
  try {
    const texts = textsOf(JSON.parse(json), valuesOf(form))
    for (const input of inputsOf(form)) input.value = texts.get(input.name) ?? ''
  } catch {
    // Nothing to take over.
  }
}

function signInLink(): HTMLElement {
  const link = document.createElement('a')
  link.href = '/console'
  link.target = '_blank'
  link.className = 'button'
  link.textContent = TRY_IT.signIn
  return link
}

/** Null if the visitor is not signed in. */
async function visitorText(): Promise<string | null> {
  const visitor = await fetch('/session').then(
    (response) => (response.ok ? response.json() : null),
    () => null,
  )
  if (visitor === null) return null
  return visitor.role === 'owner' ? TRY_IT.owner(visitor.account) : TRY_IT.operator(visitor.name)
}

async function showAnswer(form: HTMLFormElement, section: HTMLElement): Promise<void> {
  const { method = 'GET', path = '/', base } = form.dataset
  const isRaw = form.querySelector<HTMLInputElement>('.switch input')?.checked
  const raw = form.querySelector('textarea')?.value ?? ''
  const body = base === undefined ? null : isRaw ? raw : JSON.stringify(bodyOf(form))
  const answer = await sendRequest(method, requestPath(path, valuesOf(form)), body)
  const output = section.querySelector<HTMLElement>('.answer')
  if (!output) return
  output.querySelector('dl')?.replaceChildren(...answerFacts(answer).map(factItem))
  output.querySelector('pre')?.replaceChildren(formattedBody(answer.text))
  output.hidden = false
}

function factItem([name, value]: readonly [string, string]): HTMLElement {
  const item = document.createElement('div')
  item.append(textElement('dt', name), textElement('dd', value))
  return item
}

/** An element that contains only text. */
export function textElement(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag)
  element.textContent = text
  return element
}
