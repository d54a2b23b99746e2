/* What the processes of the campaign `deliveries` have in common. */

export const TYPE = 'test:delivered'

/** The channels: one function, and a webhook to a receiver in a process of its own. */
export const CHANNELS = ['function', 'webhook'] as const
export type ChannelName = (typeof CHANNELS)[number]

/** The header by which the receiver knows which process has sent a request. */
export const PROCESS_HEADER = 'x-process'

/** A delivery, as the one who received it writes it down. */
export interface Arrival {
  /** Unix milliseconds. */
  readonly at: number
  /** The process that delivered. */
  readonly process: string
  readonly events: readonly ArrivedEvent[]
}

export interface ArrivedEvent {
  readonly key: string
  readonly created_at: string
}

/** The file that has a line of JSON for each arrival. */
export const arrivalsFile = (folder: string, channel: ChannelName): string =>
  `${folder}/arrivals-${channel}`
