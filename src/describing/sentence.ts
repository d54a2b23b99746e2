/**
 * A piece of a sentence. `name`: of a thing, or a figure that stands out. `reason`: why something
 * went wrong. `quote`: what a person wrote, without quotation marks. `time`: a timestamp as events
 * have it, to be shown in the reader's zone. `tag`: the word before the type of a custom event.
 * `progress`: how far open work is, 0 to 100.
 *
 * The texts hold no markup, line breaks or invisible characters, and are of bounded length.
 */
export type SentencePart =
  | {
      readonly kind: 'text' | 'name' | 'reason' | 'quote' | 'time' | 'tag'
      readonly text: string
    }
  | { readonly kind: 'progress'; readonly text: string; readonly percent: number }

/** What an event tells, in one line: `ann` | `created change nightly in project acme`. */
export interface Sentence {
  /** The user behind it; null where that is the service. */
  readonly who: string | null
  /** The rest, without a full stop. Never empty. */
  readonly what: readonly SentencePart[]
  /** True where the rest begins with the verb, so that `who` is its subject. */
  readonly isVerbFirst: boolean
}
