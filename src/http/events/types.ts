import { LANGUAGES, type Language } from '../../describing/language.js'
import type { CustomTypeDefinition } from '../../event/custom-types.js'
import type { EventTypeDefinition } from '../../event/event-types.js'
import type { HttpResponse } from '../exchange.js'
import { preferredLanguage } from '../languages.js'
import { jsonapi, JSON_API } from '../problem.js'
import type { EndpointAudit, EventsCall, HandlerOptions } from './handler.js'
import { staticDocumentHandler } from '../static-document.js'

/** A registered type, without the parts that only the service itself can use. */
function typeResource(type: string, definition: EventTypeDefinition, language: Language): object {
  const { area, description, data, throttle, cadence, onlyWhile, live, source } = definition
  const sentence = definition.sentences?.[language] ?? definition.sentence
  const attributes = {
    area: area ?? null,
    description: description ?? null,
    // A Standard Schema does not list its keys.
    data: data === undefined || '~standard' in data ? null : data,
    live: live ?? false,
    throttle: throttle ? { period: throttle.period, scope: throttle.scope ?? [] } : null,
    cadence: cadence ?? null,
    only_while: onlyWhile ?? null,
    source: source ?? null,
    sentence: sentence ?? null,
  }
  return { type: 'event_type', id: type, attributes }
}

/** Resource of a type of custom events that the host has registered. */
function customTypeResource(
  type: string,
  definition: CustomTypeDefinition,
  language: Language,
): object {
  const { label, description, sentences = {}, sentence } = definition
  return {
    type,
    label: label ?? null,
    description: description ?? null,
    sentence: sentences[language] ?? sentence ?? null,
  }
}

interface TypesHandlerOptions extends Pick<HandlerOptions, 'path'> {
  readonly audit: Pick<EndpointAudit, 'types' | 'customTypes'>
}

/** `GET <path>/types`: the registered event types, with the sentences of the language that the client prefers. */
export function typesHandler({
  audit,
  path,
}: TypesHandlerOptions): (call: Pick<EventsCall, 'request'>) => Promise<HttpResponse> {
  const documentIn = (language: Language): ReturnType<typeof staticDocumentHandler> =>
    staticDocumentHandler(JSON_API, () => {
      const types = Object.entries(audit.types)
      const data = types.map(([type, definition]) => typeResource(type, definition, language))
      const custom_types = Object.entries(audit.customTypes).map(([type, definition]) =>
        customTypeResource(type, definition, language),
      )
      return JSON.stringify({
        jsonapi,
        data,
        meta: { custom_types },
        links: { self: `${path}/types` },
      })
    })
  const documents = new Map(LANGUAGES.map((language) => [language, documentIn(language)]))
  return async (call): Promise<HttpResponse> => {
    const language = preferredLanguage(call.request.header('accept-language'))
    const response = await documents.get(language)!(call)
    const { vary } = response.headers
    return {
      ...response,
      headers: {
        ...response.headers,
        'content-language': language,
        vary: `${vary}, Accept-Language`,
      },
    }
  }
}
