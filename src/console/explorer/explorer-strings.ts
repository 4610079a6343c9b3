// Text of the API explorer.

export const title = 'API explorer'
export const intro =
  'Build a request for POST /info, send it with your session, and copy it as code. Requests are charged to the key you signed in with. The address of this page keeps the form.'
export const find = 'Find a type'
export const types = 'Types'
export const noTypes = (typed: string) => `No type matches “${typed}”.`
export const unknownType = (type: string) => `There is no type “${type}”. Choose one from the list.`
export const price = (credits: string) =>
  credits === '0' ? 'Free' : `${credits} ${credits === '1' ? 'credit' : 'credits'}`
export const reference = 'Reference'
export const fields = 'Fields'
export const noFields = 'This type has no fields.'
export const required = 'required'
export const tabs = 'Request body and code'
export const body = 'Request body'
export const send = 'Send'
export const sending = 'Sending…'
export const response = 'Response'
export const size = 'Size'
export const headers = (count: number) => `${count} response headers`
export const failed = (reason: string) => `The request could not be sent: ${reason}`
