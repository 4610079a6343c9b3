// Rewrites the code samples of a page as its form changes.

import { callSamples, LANGUAGES, postSamples, type Samples } from '../requests/code-samples.ts'
import { type FormInput, sampleBody } from '../requests/request-form.ts'
import { withOrigin } from '../requests/served-origin.ts'

interface Form {
  readonly method: string
  readonly path: string
  /** Environment variable with the key. */
  readonly secret: string
  /** Fixed part of the body; null: no body. */
  readonly base: Readonly<Record<string, unknown>> | null
  readonly inputs: readonly FormInput[]
  /** The body as edited; null: from the inputs. */
  readonly raw: string | null
}

/** Leaves the samples as they are while a field is not valid JSON. */
export function showSamples({ method, path, secret, base, inputs, raw }: Form): void {
  let samples: Samples
  try {
    const body = base === null ? undefined : raw === null ? sampleBody(base, inputs) : JSON.parse(raw)
    samples = path === '/info' ? postSamples(path, body) : callSamples(method, path, body, secret)
  } catch {
    return
  }
  for (const language of Object.keys(LANGUAGES) as (keyof Samples)[]) {
    const code = document.querySelector(`.samples > .tabs pre[data-language="${language}"] code`)
    if (code !== null) code.textContent = withOrigin(samples[language], location.origin)
  }
}
