// State and actions that the steps of a pipeline share.

import type { Signal } from '@preact/signals'
import type { RequestError } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import type { Draft, FieldErrors, Step } from './pipeline-draft.ts'

export interface Wizard {
  readonly draft: Signal<Draft>
  /** In memory only. */
  readonly secret: Signal<string>
  readonly errors: Signal<FieldErrors>
  readonly options: Responses['pipelineOptions']
  readonly preview: Signal<{ readonly of: string; readonly value: Responses['previewPipeline'] } | null>
  readonly isEdit: boolean
  readonly change: (fields: Partial<Draft>) => void
  readonly go: (step: Step) => void
  /** Shows an error at its field, on its step. */
  readonly fail: (error: RequestError) => void
  readonly failAt: (errors: FieldErrors) => void
  /** Leaves for the page of the pipeline, or of all. */
  readonly leave: (id: string | null) => void
}
