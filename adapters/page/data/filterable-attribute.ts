/** An attribute to filter by, with some of its values. */
export interface KnownAttribute {
  readonly name: string
  readonly values: readonly { readonly value: string; readonly count?: number }[]
  /** A field of every event, seen in events, or only declared by event types. */
  readonly from?: 'own' | 'seen' | 'registry'
}

/** A known attribute with its origin, its types and its count. */
export interface FilterableAttribute extends KnownAttribute {
  readonly from: 'own' | 'seen' | 'registry'
  /** The JSON types of its values. For a field of every event, the kind of the field. */
  readonly types: readonly string[]
  /** Number of events that have it; `undefined` while unknown. */
  readonly count: number | undefined
}
