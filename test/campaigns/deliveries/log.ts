/* Names and types that the processes of the campaign `deliveries` share. */

export const TYPE = 'test:delivered'

/** The channels: a function, and a webhook to a receiver in another process. */
export const CHANNELS = ['function', 'webhook'] as const
export type ChannelName = (typeof CHANNELS)[number]

/** The header with the name of the sending process. */
export const PROCESS_HEADER = 'x-process'

/** A delivery, as its receiver writes it down. */
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
