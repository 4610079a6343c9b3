// The SITE_LINKS variable: the operator's own pages, to which the public pages link.

import * as z from 'zod'

const MESSAGE = 'must be a URL that begins with https:// or an address such as "mailto:help@example.com"'
const LENGTH_MAX = 500

const Link = z.union(
  [
    z.url({ protocol: /^https$/ }).max(LENGTH_MAX),
    z
      .string()
      .max(LENGTH_MAX)
      .regex(/^mailto:[^\s@"<>]+@[^\s@"<>]+$/),
  ],
  MESSAGE,
)

export const SiteLinks = z.strictObject({
  terms: Link.optional(),
  privacy: Link.optional(),
  imprint: Link.optional(),
  support: Link.optional(),
})
export type SiteLinks = z.infer<typeof SiteLinks>
