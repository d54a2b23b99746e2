import { language } from '../data/language.js'
import { languageChoice } from '../data/preferences.js'
import { texts } from '../ui/texts.js'
import { LANGUAGES, type Language } from '../../../src/describing/language.js'

/** Names in the language itself, so that its readers recognize them. */
const NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

/** Chooses the language of the page, and reloads the page. The address keeps the query. */
function choose(tag: string): void {
  languageChoice.value = tag as Language
  location.reload()
}

export function LanguageChoice() {
  return (
    <label class="language">
      {texts.facets.language}
      <select value={language} onChange={(event) => choose(event.currentTarget.value)}>
        {LANGUAGES.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {NAMES[tag]}
          </option>
        ))}
      </select>
    </label>
  )
}
