// The SIGNUP_SETTINGS variable: how the sign-up by e-mail is bounded, and who sends its mail.

import * as z from 'zod'

export const SignUpSettings = z.strictObject({
  /** Links of a day, to whomever. */
  perDay: z.int().min(1).max(100_000).default(200),
  /** Domains whose addresses are not taken, such as those of throw-away addresses. */
  refusedDomains: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in small letters, such as "example.com"'))
    .max(500)
    .default([]),
  /** Of a Turnstile widget: whoever asks for a link solves its challenge first. */
  turnstileSiteKey: z
    .string()
    .regex(/^[\w-]{10,100}$/, 'must be the site key of a Turnstile widget')
    .optional(),
  /** Takes `{from, to, subject, text}` with a bearer token, and answers 2xx when the mail is on its way. */
  mailer: z
    .strictObject({
      url: z.url({ protocol: /^https$/, error: 'must begin with https://' }),
      from: z
        .string()
        .max(254)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another header.
        .regex(/^[^\x00-\x1f\x7f]+@[^\x00-\x1f\x7f]+$/, 'must be like "Weir <keys@example.com>"'),
    })
    .optional(),
})
export type SignUpSettings = z.infer<typeof SignUpSettings>
