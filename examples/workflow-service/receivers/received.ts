/** A webhook or a mail that has arrived. */
export interface Received {
  readonly at: Date
  readonly kind: 'webhook' | 'mail'
  readonly title: string
  readonly text: string
}

export type Arrived = (received: Received) => void
