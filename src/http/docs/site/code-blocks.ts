// Code samples as Markdown: consecutive code blocks become one tab group.

import { LANGUAGES, type Samples } from '../../../console/requests/code-samples.ts'
import { block } from './page.ts'

export const codeBlocks = (samples: Samples): string =>
  (Object.keys(LANGUAGES) as (keyof Samples)[]).map((language) => block(language, samples[language])).join('\n\n')
