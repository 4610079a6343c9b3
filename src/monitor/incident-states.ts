// States of incidents and maintenance. Pages import this file, so it imports nothing.

export const INCIDENT_KINDS = ['incident', 'maintenance'] as const
export type IncidentKind = (typeof INCIDENT_KINDS)[number]

/** States in their usual order. The last one closes. */
export const STATES_OF = {
  incident: ['investigating', 'identified', 'monitoring', 'resolved'],
  maintenance: ['scheduled', 'in_progress', 'completed'],
} as const satisfies Readonly<Record<IncidentKind, readonly string[]>>

export type IncidentState = (typeof STATES_OF)[IncidentKind][number]

/** Why an incident of this kind cannot have this state; null: it can. */
export function stateFault(kind: IncidentKind, state: IncidentState): string | null {
  const states: readonly string[] = STATES_OF[kind]
  return states.includes(state) ? null : `must be one of ${states.join(', ')}, because this is of kind ${kind}`
}

export const isClosing = (state: IncidentState) => state === 'resolved' || state === 'completed'
