import Negotiator from 'negotiator'
import { LANGUAGES, type Language } from '../describing/language.js'
import { checkHeaderSize } from './header-size.js'

/** The language of the package that a client prefers (RFC 9110, section 12.5.4), else the default one. */
export function preferredLanguage(accept: string): Language {
  checkHeaderSize('accept-language', accept)
  const negotiator = new Negotiator({ headers: { 'accept-language': accept || '*' } })
  return (negotiator.languages([...LANGUAGES])[0] ?? LANGUAGES[0]) as Language
}
