import fs from 'node:fs'
import path from 'node:path'
import { parseSync } from 'vite'

/** A source file and all that it imports, types and dynamic imports included. Paths are relative to the root. */
export interface Module {
  readonly file: string
  /** Files of the project. */
  readonly local: readonly string[]
  /** The part of `local` whose code is loaded at run time. */
  readonly loaded: readonly string[]
  /** Packages whose code is loaded at run time, including Node's modules. */
  readonly packages: readonly string[]
}

interface Import {
  readonly name: string
  readonly isType: boolean
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && 'type' in value

const literal = (value: unknown): string | undefined =>
  isNode(value) && typeof value['value'] === 'string' ? value['value'] : undefined

/** Nodes that name another module, with the place of the name. */
const SOURCES: Readonly<Record<string, (node: Node) => { source: unknown; isType: boolean }>> = {
  ImportDeclaration: (node) => ({ source: node['source'], isType: isTypeOnly(node) }),
  ExportNamedDeclaration: (node) => ({ source: node['source'], isType: isTypeOnly(node) }),
  ExportAllDeclaration: (node) => ({ source: node['source'], isType: isTypeOnly(node) }),
  ImportExpression: (node) => ({ source: node['source'], isType: false }),
  TSImportType: (node) => ({ source: node['source'], isType: true }),
}

const isTypeOnly = (node: Node): boolean =>
  node['importKind'] === 'type' || node['exportKind'] === 'type'

function importsOf(value: unknown, found: Import[] = []): Import[] {
  if (Array.isArray(value)) for (const item of value) importsOf(item, found)
  else if (isNode(value)) {
    const read = SOURCES[value.type]?.(value)
    const name = literal(read?.source)
    if (read && name !== undefined) found.push({ name, isType: read.isType })
    for (const child of Object.values(value)) if (typeof child === 'object') importsOf(child, found)
  }
  return found
}

function readModule(root: string, file: string): Module {
  const { program, errors } = parseSync(file, fs.readFileSync(path.join(root, file), 'utf8'))
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  // Style sheets and other assets are not modules.
  const imports = importsOf(program.body).filter(({ name }) => !/\.(?:css|svg)$/.test(name))
  const resolve = (name: string): string => {
    const module = path.join(path.dirname(file), name)
    const tsx = module.replace(/\.js$/, '.tsx')
    return fs.existsSync(path.join(root, tsx)) ? tsx : module.replace(/\.js$/, '.ts')
  }
  const isLocal = ({ name }: Import): boolean => name.startsWith('.')
  const local = imports.filter(isLocal)
  return {
    file,
    local: [...new Set(local.map(({ name }) => resolve(name)))],
    loaded: local.filter(({ isType }) => !isType).map(({ name }) => resolve(name)),
    packages: imports.filter((one) => !one.isType && !isLocal(one)).map(({ name }) => name),
  }
}

/** Every TypeScript module of the folders. */
export function readModules(root: string, folders: readonly string[]): readonly Module[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => readModule(root, path.join(folder, file))),
  )
}

/** Rules for imports. A place is a folder, with its files but not its subfolders, or a single file. */
export type Floors = ReadonlyMap<string, readonly string[]>

interface Floor {
  readonly folder: string
  readonly imports: readonly string[]
}

/** Reads a JSON list of places, from the top floor to the ground, with the allowed imports of each. */
export const readFloors = (json: string): Floors =>
  new Map((JSON.parse(json) as Floor[]).map(({ folder, imports }) => [folder, imports]))

const placeOf = (floors: Floors, file: string): string =>
  floors.has(file) ? file : path.dirname(file)

/** The breaches of the floors, one in each line; empty if there are none. */
export function floorBreaches(modules: readonly Module[], floors: Floors): readonly string[] {
  const order = [...floors.keys()]
  const used = new Set<string>()
  const breaches: string[] = []
  for (const [place, allowed] of floors)
    for (const other of allowed)
      if (order.indexOf(other) <= order.indexOf(place))
        breaches.push(`${place} lists ${other}, which is not below it`)
  for (const { file, local } of modules) {
    const from = placeOf(floors, file)
    if (!floors.has(from)) breaches.push(`${file} stands on no floor`)
    for (const target of local) {
      const to = placeOf(floors, target)
      used.add(`${from} > ${to}`)
      if (to !== from && !floors.get(from)?.includes(to)) breaches.push(`${file} -> ${target}`)
    }
  }
  for (const [place, allowed] of floors)
    for (const other of allowed)
      if (!used.has(`${place} > ${other}`)) breaches.push(`${place} never imports ${other}`)
  return breaches
}
