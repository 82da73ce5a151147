// From TypeDoc's model of an entry point to a page of markdown.
//
// TypeDoc says what is exported, where it is declared and what its comments say, and warns of what has none. Signatures are
// shown as they stand in the source: shorter, and what a reader finds in his editor.
import { join } from 'node:path'
import { Application, Converter, ReferenceReflection, ReflectionKind } from 'typedoc'
import ts from 'typescript'

/** The headings of a page, in order, and what TypeDoc calls each kind. */
const KINDS = {
  Functions: 'Function',
  Values: 'Variable',
  Classes: 'Class',
  Interfaces: 'Interface',
  Types: 'TypeAlias',
}

/** Types that only shorten others, and that no user would write down. */
const HELPER_TYPES = [
  'AddableName',
  'Anything',
  'Common',
  'ConditionInput',
  'EndpointOperations',
  'Engine',
  'Isolation',
  'Operations',
  'PREFIX_BY_NAME',
  'Place',
  'Settable',
]

/**
 * @param {string} root
 * @param {readonly { page: string, name: string, entry: string, about: string }[]} entries
 * @returns {Promise<readonly { page: string, text: string }[]>}
 */
export async function renderPages(root, entries) {
  const app = await Application.bootstrap({
    entryPoints: entries.map(({ entry }) => join(root, entry)),
    tsconfig: join(root, 'tsconfig.json'),
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    disableSources: true,
    readme: 'none',
    // npm run build has checked the types, with the compiler of the project.
    skipErrorChecking: true,
    validation: { notExported: true, invalidLink: true },
    intentionallyNotExported: HELPER_TYPES,
  })
  /** By reflection: where it is declared. */
  const declarations = new Map()
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    const symbol = context.getSymbolFromReflection(reflection)
    const [node] = symbol?.declarations ?? []
    if (node === undefined) return
    declarations.set(reflection, node)
    if (ts.isTypeAliasDeclaration(node))
      texts.set(node, literalsOf(context.checker.getDeclaredTypeOfSymbol(symbol)))
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc could not read the entry points')
  app.validate(project)
  if (app.logger.hasWarnings() || app.logger.hasErrors())
    throw new Error('TypeDoc has warned, see above: a page would be incomplete')

  /** By entry, its exports. */
  const children = new Map(
    entries.map((entry) => {
      const name = entry.entry.replace(/^src\//, '').replace(/(\/index)?\.ts$/, '')
      return [entry, project.children.find((module) => module.name === name).children]
    }),
  )
  const exported = new Map()
  for (const [{ page }, reflections] of children) {
    const own = reflections.filter((each) => !(each instanceof ReferenceReflection))
    const anchors = own.map((each) => anchor(headingOf(each, declarations)))
    for (const [at, reflection] of own.entries()) {
      const heading = headingOf(reflection, declarations)
      // `testStore()` and `TestStore` would lead to one place.
      const isShared =
        reflection.kind === ReflectionKind.Function &&
        anchors.indexOf(anchors[at]) !== anchors.lastIndexOf(anchors[at])
      exported.set(reflection, { page, heading: isShared ? `Function ${heading}` : heading })
    }
  }
  const undocumented = []
  const pages = entries.map((entry) => ({
    page: entry.page,
    text: new Page(entry, declarations, exported, undocumented).render(children.get(entry)),
  }))
  if (undocumented.length > 0) throw new Error(`without a comment: ${undocumented.join(', ')}`)
  return pages
}

/** By declaration of an alias: the literals that it stands for, where it names none of them. */
const texts = new Map()

const literalsOf = (type) =>
  type.isUnion() && type.types.every((each) => each.isStringLiteral())
    ? type.types.map((each) => `'${each.value}'`).join(' | ')
    : undefined

class Page {
  #entry
  #declarations
  #exported
  #undocumented

  constructor(entry, declarations, exported, undocumented) {
    this.#undocumented = undocumented
    this.#entry = entry
    this.#declarations = declarations
    this.#exported = exported
  }

  render(children) {
    const { name, about } = this.#entry
    const own = children.filter((child) => this.#exported.get(child)?.page === this.#entry.page)
    const elsewhere = children
      .map((child) => (child instanceof ReferenceReflection ? child.getTargetReflectionDeep() : child))
      .filter((child) => !own.includes(child))
    const groups = Object.entries(KINDS)
      .map(([title, kind]) => [title, own.filter((child) => child.kind === ReflectionKind[kind])])
      .filter(([, members]) => members.length > 0)
    return [
      `<!-- Written by scripts/api-reference.mjs from the comments in ${this.#entry.entry}: change those instead. -->`,
      `# API: ${name}`,
      about,
      ...groups.map(
        ([title, members]) => `${title}: ${members.map((member) => this.#link(member)).join(', ')}.`,
      ),
      ...(elsewhere.length === 0
        ? []
        : [`From other entry points: ${elsewhere.map((each) => this.#link(each)).join(', ')}.`]),
      ...groups.flatMap(([title, members]) => [
        `## ${title}`,
        ...members.flatMap((member) => this.#section(member)),
      ]),
    ].join('\n\n')
  }

  #section(reflection) {
    const node = this.#declarations.get(reflection)
    const parts = [`### ${this.#exported.get(reflection).heading}`]
    const says = reflection.comment ?? reflection.signatures?.[0]?.comment
    this.#require(says, reflection.name)
    if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) parts.push(code(signature(node)))
    parts.push(...comment(says))
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) {
      const bases = this.#bases(node)
      if (bases !== '') parts.push(bases)
      parts.push(...this.#members(reflection))
    }
    const mentioned = this.#mentioned(reflection, [signatureText(node)])
    if (mentioned !== '' && !ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node))
      parts.push(mentioned)
    return parts
  }

  #members(reflection) {
    const isError = this.#declarations
      .get(reflection)
      .heritageClauses?.some((clause) => clause.getText() === 'extends Error')
    const own = (reflection.children ?? [])
      .filter((member) => member.inheritedFrom === undefined && !member.name.startsWith('['))
      // Errors are made by this package, and the name of each is that of its class.
      .filter((member) => !(isError && (member.name === 'constructor' || isNamed(member, reflection))))
    const nodeOf = (member) => this.#declarations.get(member)
    const properties = own.filter((member) => !member.signatures)
    const methods = own.filter((member) => member.signatures)
    const inSource = (one, other) => nodeOf(one).pos - nodeOf(other).pos
    return [
      properties
        .toSorted(inSource)
        .map((member) => {
          const says = member.comment ?? member.getSignature?.comment
          this.#require(says, `${reflection.name}.${member.name}`)
          const text = says?.summary ?? []
          return `- \`${inOneLine(signatureText(nodeOf(member)))}\`: ${inOneLine(textOf(text))}`
        })
        .join('\n'),
      ...methods
        .toSorted(inSource)
        .flatMap((member) => [
          `#### ${reflection.name}${member.name === 'constructor' ? '' : '.'}${headingOf(member, this.#declarations)}`,
          code(signature(nodeOf(member))),
          ...comment(member.signatures[0].comment),
        ]),
      this.#mentioned(
        reflection,
        own.map((member) => signatureText(nodeOf(member))),
      ),
    ].filter((part) => part !== '')
  }

  #require(says, name) {
    if (says === undefined || says.summary.length === 0)
      this.#undocumented.push(`${this.#entry.name} ${name}`)
    return []
  }

  #bases(node) {
    const names = (node.heritageClauses ?? []).flatMap((clause) => clause.types.map((type) => type.getText()))
    return names.length === 0 ? '' : `Extends ${names.map((name) => this.#linked(name)).join(', ')}.`
  }

  /** The exported types in these signatures. */
  #mentioned(reflection, signatures) {
    const words = new Set(signatures.join(' ').match(/[A-Za-z]\w+/g))
    const types = [...this.#exported.keys()].filter(
      (each) =>
        each !== reflection &&
        each.kind !== ReflectionKind.Function &&
        words.has(each.name) &&
        each.name !== 'default',
    )
    return types.length === 0 ? '' : `See ${types.map((each) => this.#link(each)).join(', ')}.`
  }

  #linked(text) {
    const [name] = text.split('<')
    const known = [...this.#exported.keys()].find((each) => each.name === name)
    return known === undefined ? `\`${text}\`` : this.#link(known)
  }

  #link(reflection) {
    const { page, heading } = this.#exported.get(reflection)
    const path = page === this.#entry.page ? '' : page
    return `[${reflection.name}](${path}#${anchor(heading)})`
  }
}

/** Functions with the names of their parameters: `transactor(client, options)` beside the interface `Transactor`. */
function headingOf(reflection, declarations) {
  const node = declarations.get(reflection)
  const callable = node && (parametersOf(node) ?? parametersOf(node.initializer))
  if (callable === undefined) return reflection.name
  const name = reflection.name === 'constructor' ? '' : reflection.name
  return `${name}(${callable.map((parameter) => parameter.name.getText()).join(', ')})`
}

const parametersOf = (node) =>
  node !== undefined && (ts.isFunctionLike(node) || ts.isArrowFunction(node)) ? node.parameters : undefined

/** As GitHub makes it from a heading. */
const anchor = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** `name = 'Conflict'` of the class Conflict. */
const isNamed = (member, reflection) =>
  member.name === 'name' && member.defaultValue === `'${reflection.name}'`

function comment(given) {
  if (given === undefined) return []
  const throws = given.blockTags.filter(({ tag }) => tag === '@throws')
  const examples = given.blockTags.filter(({ tag }) => tag === '@example')
  return [
    textOf(given.summary).trim(),
    ...throws.map(({ content }) => `Throws ${textOf(content).trim()}.`),
    ...examples.map(({ content }) => code(withoutFence(textOf(content)))),
  ].filter((part) => part !== '')
}

const textOf = (parts) => parts.map(({ text }) => text).join('')
const inOneLine = (text) => text.trim().replaceAll(/\s+/g, ' ')
const code = (text) => `\`\`\`ts\n${text}\n\`\`\``

/** TypeDoc fences an example that has no fence, and takes the indentation of its first line only. */
function withoutFence(text) {
  const lines = text
    .trim()
    .replace(/^```\w*\n/, '')
    .replace(/\n```$/, '')
    .split('\n')
  const rest = lines.slice(1).filter((line) => line.trim() !== '')
  const indents = rest.map((line) => line.length - line.trimStart().length)
  const shared = lines[0].startsWith(' ') ? 0 : Math.min(...indents, Infinity)
  return lines.map((line, at) => (at === 0 ? line : line.slice(shared === Infinity ? 0 : shared))).join('\n')
}

/** The declaration without its body, its modifiers and its own comment. */
function signatureText(node) {
  if (ts.isVariableDeclaration(node)) return variableText(node)
  const start = (node.name ?? node.parameters?.[0] ?? node).getStart()
  const file = node.getSourceFile().text
  if (ts.isConstructorDeclaration(node))
    return `new ${node.parent.name.text}${file.slice(node.getStart() + 'constructor'.length, node.body.getStart())}`
  if (ts.isTypeAliasDeclaration(node)) {
    const literals = texts.get(node)
    return `type ${literals === undefined ? file.slice(start, node.getEnd()) : `${node.name.text} = ${literals}`}`
  }
  if (ts.isGetAccessor(node)) return `${node.name.text}: ${node.type.getText()}`
  const end = node.body?.getStart() ?? node.initializer?.getStart() ?? node.getEnd()
  const text = file.slice(start, end).trim().replace(/ =$/, '').replace(/;$/, '')
  return /^\w+\?:/.test(text) ? text.replace(/ \| undefined$/, '') : text
}

function variableText(node) {
  const name = node.name.getText()
  const { initializer, type } = node
  if (type !== undefined) return `${name}: ${type.getText()}`
  if (initializer !== undefined && ts.isArrowFunction(initializer)) {
    const text = initializer.getText()
    return `${name}${text.slice(0, initializer.equalsGreaterThanToken.getStart() - initializer.getStart()).trim()}`
  }
  return `${name}: string`
}

function signature(node) {
  const text = signatureText(node)
  if (ts.isFunctionDeclaration(node)) return `function ${text}`
  if (ts.isVariableDeclaration(node))
    return `${text.includes('(') && !text.includes(': (') ? 'function' : 'const'} ${text}`
  return unindented(text)
}

/** Members stand two columns in. */
const unindented = (text) => (text.startsWith('type ') ? text : text.replaceAll(/^ {2}/gm, ''))
