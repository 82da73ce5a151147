// The declarations that the entry points of the package need, one file for each of them and one for each group that shares some.
// Made of what the compiler writes to dist/src. What no entry point reaches is left out: a declaration is reached if its name
// occurs in one that is.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'rolldown/utils'

/**
 * @param {string} folder where the declarations of all modules are
 * @param {Record<string, string>} entries the module of each entry point, by its name
 * @returns {Map<string, string>} the text of each file, by its name
 */
export function bundledDeclarations(folder, entries) {
  const modules = new Map()
  const moduleAt = (path) => {
    const known = modules.get(path)
    if (known !== undefined) return known
    const module = readModule(folder, path)
    modules.set(path, module)
    return module
  }

  /** What a name of a module stands for: a declaration, or something of another package. */
  const resolve = (module, name) => {
    const imported = module.imports.get(name)
    if (imported !== undefined) return follow(imported)
    const declared = module.declared.get(name)
    return declared === undefined ? undefined : { name, module, statements: declared }
  }
  const follow = ({ from, name, isExternal, text }) => {
    if (isExternal) return { external: from, text }
    const module = moduleAt(from)
    const exported = module.exports.get(name)
    if (exported === undefined) throw new Error(`${from} exports no ${name}`)
    return exported.from === undefined ? resolve(module, exported.local) : follow(exported)
  }

  // Which entry points reach what.
  const reached = new Map()
  const exportsOf = new Map()
  for (const [entry, path] of Object.entries(entries)) {
    const module = moduleAt(path)
    const exported = [...module.exports].map(([name, place]) => ({
      name,
      isType: place.isType,
      found: place.from === undefined ? resolve(module, place.local) : follow(place),
    }))
    exportsOf.set(entry, exported)
    const reach = (found) => {
      if (found === undefined || found.external !== undefined) return
      const key = `${found.module.path}#${found.name}`
      const known = reached.get(key) ?? { ...found, entries: new Set() }
      reached.set(key, known)
      if (known.entries.has(entry)) return
      known.entries.add(entry)
      for (const { names } of known.statements) for (const name of names) reach(resolve(found.module, name))
    }
    for (const { found } of exported) reach(found)
    for (const { names } of module.globals) for (const name of names) reach(resolve(module, name))
  }
  refuseNamesakes(reached.values())

  const files = new Map()
  const groupOf = ({ entries: by }) =>
    Object.keys(entries)
      .filter((entry) => by.has(entry))
      .join('+')
  const groups = Map.groupBy?.(reached.values(), groupOf) ?? grouped(reached.values(), groupOf)
  for (const entry of Object.keys(entries)) if (!groups.has(entry)) groups.set(entry, [])
  const shared = [...groups.keys()].filter((name) => name.includes('+'))
  /** Shared ones by the number of entry points that share them, and in that by their names. */
  const names = new Map(
    shared
      .toSorted((a, b) => b.split('+').length - a.split('+').length || byName(a, b))
      .map((name, at) => [name, `shared-${at + 1}`]),
  )
  const placeOf = (found) => names.get(groupOf(found)) ?? groupOf(found)

  for (const [group, declarations] of groups) {
    const file = names.get(group) ?? group
    const imports = new Map()
    const texts = []
    const use = (module, name) => {
      const found = resolve(module, name)
      if (found === undefined) return
      const from = found.external ?? `./${placeOf(reached.get(`${found.module.path}#${found.name}`))}.js`
      if (from === `./${file}.js`) return
      imports.set(from, (imports.get(from) ?? new Set()).add(found.text ?? found.name))
    }
    for (const { module, statements } of declarations)
      for (const { text, names: used } of statements) {
        texts.push(text)
        for (const name of used) use(module, name)
      }
    const lines = []
    if (entries[group] === undefined)
      lines.push(`export { ${declarations.map(({ name }) => name).join(', ')} }`)
    else {
      const module = moduleAt(entries[group])
      for (const { text, names: used } of module.globals) {
        texts.push(text)
        for (const name of used) use(module, name)
      }
      const elsewhere = new Map()
      for (const { name, isType, found } of exportsOf.get(group)) {
        const from = placeOf(reached.get(`${found.module.path}#${found.name}`))
        const as = found.name === name ? name : `${found.name} as ${name}`
        elsewhere.set(from, [...(elsewhere.get(from) ?? []), isType ? `type ${as}` : as])
      }
      for (const [from, list] of elsewhere)
        lines.push(`export { ${list.join(', ')} }${from === file ? '' : ` from './${from}.js'`}`)
    }
    refuseHidden(
      declarations,
      new Set([
        ...declarations.map(({ name }) => name),
        ...[...imports.values()].flatMap((list) => [...list]),
      ]),
      resolve,
    )
    const heads = [...imports].map(
      ([from, list]) => `import type { ${[...list].toSorted(byName).join(', ')} } from '${from}'`,
    )
    files.set(`${file}.d.ts`, `${[...heads, ...texts, ...lines].join('\n')}\n`)
  }
  return files
}

/** Two declarations of one name cannot stand in one file, and would be one name for two things. */
function refuseNamesakes(declarations) {
  const homes = new Map()
  for (const { name, module } of declarations) {
    const home = homes.get(name)
    if (home !== undefined) throw new Error(`${name} is declared in ${home} and in ${module.path}`)
    homes.set(name, module.path)
  }
}

/** A name that means something of the language or its libraries must not mean something else in the file it comes to stand in. */
function refuseHidden(declarations, here, resolve) {
  for (const { name, module, statements } of declarations)
    for (const used of statements.flatMap(({ names }) => [...names]))
      if (here.has(used) && resolve(module, used) === undefined && used !== name)
        throw new Error(`${used} means something else for ${name} of ${module.path}`)
}

function readModule(folder, path) {
  const text = readFileSync(join(folder, `${path}.d.ts`), 'utf8')
  const { program, errors, comments } = parseSync(`${path}.d.ts`, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const imports = new Map()
  const exports = new Map()
  const declared = new Map()
  const globals = []
  const placeOf = (specifier) =>
    specifier.startsWith('.')
      ? { from: join(dirname(path), specifier).replaceAll('\\', '/').replace(/\.js$/, ''), isExternal: false }
      : { from: specifier, isExternal: true }
  const declare = (node, outer) => {
    const start = beginsAt(comments, text, outer.start)
    const words = text.slice(node.start, outer.end)
    const isKnown = node.type.startsWith('TSType') || node.type.startsWith('TSInterface')
    const body = isKnown || words.startsWith('declare ') ? words : `declare ${words}`
    const statement = { text: text.slice(start, outer.start) + body, names: namesIn(node) }
    const declaredNames = node.declarations?.map(({ id }) => id.name) ?? [node.id.name]
    for (const name of declaredNames) declared.set(name, [...(declared.get(name) ?? []), statement])
    return declaredNames
  }

  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      const place = placeOf(node.source.value)
      for (const { type, local, imported } of node.specifiers) {
        if (type !== 'ImportSpecifier') throw new Error(`${path}: only names can be imported`)
        const as = imported.name === local.name ? local.name : `${imported.name} as ${local.name}`
        imports.set(local.name, { ...place, name: imported.name, text: as })
      }
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration !== null)
      for (const name of declare(node.declaration, node)) exports.set(name, { local: name })
    else if (node.type === 'ExportNamedDeclaration') {
      for (const { local, exported, exportKind } of node.specifiers)
        exports.set(exported.name, {
          ...(node.source === null
            ? { local: local.name }
            : { ...placeOf(node.source.value), name: local.name }),
          // A class of which only the type is exported is no value there.
          isType: node.exportKind === 'type' || exportKind === 'type',
        })
    } else if (node.type === 'ExportDefaultDeclaration' && node.declaration.type === 'Identifier')
      exports.set('default', { local: node.declaration.name })
    else if (node.type === 'TSModuleDeclaration' && node.kind === 'global')
      globals.push({ text: text.slice(node.start, node.end), names: namesIn(node) })
    else if (node.id !== undefined || node.declarations !== undefined) declare(node, node)
    else throw new Error(`${path}: no way to take over ${node.type}`)
  }
  return { path, imports, exports, declared, globals }
}

/** Where the comment that belongs to a statement begins. */
function beginsAt(comments, text, start) {
  const before = comments.findLast(({ end }) => end <= start)
  return before !== undefined && text.slice(before.end, start).trim() === '' ? before.start : start
}

/** The names that a declaration refers to: of types, of what it is made from, of what `typeof` asks, of computed members. */
function namesIn(declaration) {
  const found = new Set()
  const own = new Set()
  const first = (node) => {
    if (node.type === 'Identifier') found.add(node.name)
    else if (node.type === 'TSQualifiedName') first(node.left)
    else if (node.type === 'MemberExpression') first(node.object)
  }
  const walk = (node) => {
    if (Array.isArray(node)) return node.forEach(walk)
    if (node === null || typeof node !== 'object') return
    if (node.type === 'TSImportType') throw new Error('import types are not taken over: import the name')
    if (node.type === 'TSTypeParameter') own.add(node.name.name ?? node.name)
    if (node.type === 'TSTypeReference') first(node.typeName)
    if (node.type === 'TSTypeQuery') first(node.exprName)
    if (/Heritage|Implements/.test(node.type)) first(node.expression)
    if (node.superClass) first(node.superClass)
    if (node.computed === true && node.key) first(node.key)
    for (const each of Object.values(node)) walk(each)
  }
  walk(declaration)
  return new Set([...found].filter((name) => !own.has(name)))
}

const byName = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

function grouped(items, keyOf) {
  const found = new Map()
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item])
  return found
}
