// Text of the incidents page.

export const incidentsText = 'Customers see these on the '
export const incidentsStatusPage = 'status page'
export const incidentsNew = 'Post an incident'
export const incidentsPlan = 'Plan maintenance'
export const incidentsNewTitles = { incident: 'New incident', maintenance: 'New maintenance' } as const
export const incidentsTitleColumn = 'Title'
export const incidentsKind = 'Type'
export const incidentsComponents = 'Components'
export const incidentsUpdated = 'Last update'
export const incidentsMessage = 'Last message'
export const incidentsTitleField = 'Title'
export const incidentsMessageField = 'Message'
export const incidentsStarts = 'Starts (UTC)'
export const incidentsEnds = 'Ends (UTC)'
export const incidentsPublic = 'The message is public at once, also in the RSS feed.'
export const incidentsPost = 'Post'
export const incidentsPosted = (title: string) => `Posted: ${title}`
export const incidentsUpdate = 'Update'
export const incidentsUpdateLabel = (title: string) => `Update ${title}`
export const incidentsUpdateTitle = (title: string) => `Update: ${title}`
export const incidentsUpdateDone = (title: string) => `Updated: ${title}`
export const incidentsRemove = 'Remove'
export const incidentsRemoveLabel = (title: string) => `Remove ${title}`
export const incidentsRemoveSubmit = 'Remove this incident'
export const incidentsRemoveText = (title: string) =>
  `“${title}” and its updates disappear from the status page. Do this only for posts by mistake. The audit log keeps them.`
export const incidentsRemoved = (title: string) => `Removed: ${title}`
export const incidentsEmpty = 'No incidents or maintenance yet.'
