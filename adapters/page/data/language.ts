const LANGUAGES = ['en', 'de'] as const

export type Language = (typeof LANGUAGES)[number]

const { lang } = document.documentElement

/** The language of the page's texts, written into the document by the server. English for any other. */
export const language: Language = LANGUAGES.find((known) => known === lang) ?? 'en'

/** The texts of a feature in the page's language. For features that are loaded on demand. */
export const byLanguage = <Texts>(texts: {
  readonly en: Texts
  readonly de: NoInfer<Texts>
}): Texts => texts[language]
