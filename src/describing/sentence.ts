/**
 * A part of a sentence. `name`: the name of a thing, or a figure to emphasize. `reason`: why something
 * failed. `quote`: text that a person wrote, without quotation marks. `time`: a timestamp in the format
 * of events, to be shown in the reader's time zone. `tag`: the word before the type of a custom event.
 * `progress`: the progress of open work, 0 to 100.
 *
 * The texts contain no markup, line breaks or invisible characters, and their length is bounded.
 */
export type SentencePart =
  | {
      readonly kind: 'text' | 'name' | 'reason' | 'quote' | 'time' | 'tag'
      readonly text: string
    }
  | { readonly kind: 'progress'; readonly text: string; readonly percent: number }

/** An event in one line: `ann` | `created change nightly in project acme`. */
export interface Sentence {
  /** The user, `ann` or `ann on behalf of bob`; null for the service itself. */
  readonly who: string | null
  /** The rest, without a full stop. Never empty. */
  readonly what: readonly SentencePart[]
  /** True if the rest begins with a verb whose subject is `who`. */
  readonly isVerbFirst: boolean
}
