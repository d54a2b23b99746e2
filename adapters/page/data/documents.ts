import { checked, JSON_API } from './api.js'

/* Requests for the JSON:API resources that users manage. */

export interface Resource {
  readonly type: string
  readonly id: string
  readonly attributes: object
}

export interface Document {
  readonly data?: Resource | readonly Resource[]
  readonly meta?: { readonly secret?: string }
}

export async function send(method: string, path: string, body?: object): Promise<Response> {
  return checked(
    await fetch(path, {
      method,
      headers: { accept: JSON_API, 'content-type': JSON_API },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
}

/** The response as a document. Throws `ApiError`. */
export async function sendForDocument(
  method: string,
  path: string,
  body?: object,
): Promise<Document> {
  const response = await send(method, path, body)
  return (await response.json()) as Document
}

/** A resource as one object. */
export const itemOf = ({ id, attributes }: Resource): unknown => ({ id, ...attributes })

export async function list<Item>(path: string): Promise<readonly Item[]> {
  const { data } = await sendForDocument('GET', path)
  return (data as readonly Resource[]).map(itemOf) as readonly Item[]
}
