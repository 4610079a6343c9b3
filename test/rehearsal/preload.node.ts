// Loaded into the programs of the product (`node --import`): their gateway starts as a rehearsal.

import { registerHooks } from 'node:module'

const REPLACEMENT = new URL('./miniflare.node.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'miniflare' && context.parentURL?.endsWith('/gateway-process.node.ts')
      ? { url: REPLACEMENT, shortCircuit: true }
      : next(specifier, context),
})
