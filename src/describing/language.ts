/** The languages of the package. The first one is the default. */
export const LANGUAGES = ['en', 'de'] as const

/** A language of the package, by its BCP 47 tag. */
export type Language = (typeof LANGUAGES)[number]

/** Beginning and end of a type, and the template of its sentence. */
export type Family = readonly [start: string, end: string, template: string]

/** The grammatical object of a sentence: whether a name follows it, and whether its noun lacks a singular. */
export interface ObjectForm {
  readonly isNamed: boolean
  readonly isPluralOnly: boolean
}

/** A language for `describeEvent`: data, and the few rules of its grammar. */
export interface SentenceLanguage {
  /** The BCP 47 tag: for numbers and plurals, and the key of the sentences of event types in this language. */
  readonly tag: string
  /** The marks around texts that a person wrote. */
  readonly quotes: readonly [opening: string, closing: string]
  /** The end of a list that is cut. */
  readonly andMore: string
  /** The mark of custom events. */
  readonly custom: string
  /** A resource of unknown kind. */
  readonly thing: string
  /** The noun for the parts of a recorded change: `field/fields`. */
  readonly fields: string
  /** Verbs by the actions of event types, as in `could not create` and `created`. */
  readonly verbs: Readonly<Record<string, readonly [verb: string, past: string]>>
  /** The first template applies that fits the type and finds its values outside of brackets in the event. */
  readonly families: readonly Family[]
  /** The template of the end of every sentence. */
  readonly postscript: string
  /** The user of an actor that acts for another user. */
  readonly onBehalfOf: (user: string, other: string) => string
  /** The noun of a kind of resources, such as `git_remote`; for `undefined`, the words of the type are used. */
  readonly nounOf: (kind: string) => string | undefined
  /** A resource as the object of a verb, with its article: `a step`, `the settings`; before its name, `step`. */
  readonly objectOf: (kind: string, words: string, form: ObjectForm) => string
  /** The words before the name of the containing resource: `of change`. */
  readonly ofOwner: (kind: string, words: string) => string
}
