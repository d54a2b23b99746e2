import { LANGUAGES, type Language } from '../../../src/describing/language.js'
import { languageChoice } from './preferences.js'

const { documentElement } = document

/** The language of the page: the user's choice, else the language in the document from the server. */
export const language: Language =
  LANGUAGES.find((known) => known === languageChoice.value) ??
  LANGUAGES.find((known) => known === documentElement.lang) ??
  LANGUAGES[0]

documentElement.lang = language

/** The texts of a feature in the page's language, for features that are loaded on demand. */
export const byLanguage = <Texts>(texts: {
  readonly en: Texts
  readonly de: NoInfer<Texts>
}): Texts => texts[language]
