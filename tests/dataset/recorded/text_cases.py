"""The text cases: sentences in the common names, read once by MindSpore (to record) and again by Mycelia.

A case is `(expression, inputs)`. The expression builds the transform from `T` (the text module), `vocab`, and the
files of `FILES` by name; the inputs are given to it as arrays. Strings and numbers must be equal. Left out is what
MindSpore gets wrong: folding around special tokens, several strings in RegexReplace and FilterWikipediaXML, offsets of
half-known words, wiki markup. `D` is the dataset package. What MindSpore refuses Mycelia refuses too.
"""

VOCAB = ["[UNK]", "fav", "##or", "##ite", "is", "china", "my", "lo", "##ve", "i", "am", "the", "book", "##s",
         "一", "國", "##國",
         "un", "##aff", "##able", ",", "!",
         "[CLS]", "[SEP]", "[MASK]", "##我", "我", "love"]  # fmt: skip
GLOVE = "ok 1.0 2.0 -0.5\n! 0.25 0.5 0.75\nthe 3 4 5\nЯ 0.1 0.2 0.3\n"
FASTTEXT = "4 3\n" + GLOVE
NGRAMS = "#BEGIN#o 1 2 3\n2gram-ok 1 0 0\n2gram-#BEGIN#o 0 2 0\n1gram-o 0 0 4\n3gram-#BEGIN#ok 1 1 1\n"
WORDS = "apple,1\nbanana,2\ncherry,3\n"
PROBABLE = """今天 30 x
天气 20 x
今天天气 5 x
太好 3 x
好了 4 x
我们 9 x
去 8 x
公园 5 x
我 10 x
们 2 x
太 2 x
好 3 x
了 9 x
一起 3 x
"""
NO = "-3.14e+100"
MARKOV = f"""#prob_start
-0.26 {NO} {NO} -1.46
#prob_trans
{NO} -0.51 -0.91 {NO}
-0.58 {NO} {NO} -0.80
{NO} -0.33 -1.26 {NO}
-0.72 {NO} {NO} -0.66
"""
KNOWN = dict.fromkeys("小明硕士毕业于中国科学院计算所来到北京玩太好了")
for k, state in enumerate("BEMS"):
    MARKOV += f"#{state}\n" + ",".join(f"{c}:{-3 - ((i * 7 + k * 5) % 11) / 3:.3f}" for i, c in enumerate(KNOWN)) + "\n"
CORPUS = "the sea is deep and the sky is wide\n" * 40 + "deep sea, wide sky and a ship\n" * 40
FILES = {
    "corpus.txt": CORPUS,
    "crooked.txt": "ok 1 2\n! 3\n",
    "word.vec": "2 3\nok 1 2 3\n! 4 5 6\n",
    "hmm.utf8": MARKOV,
    "mp.utf8": PROBABLE,
    "glove.6B.test.txt": GLOVE,
    "fast.vec": FASTTEXT,
    "char.txt": NGRAMS,
    "words.txt": WORDS,
}

ENGLISH = "Welcome to  Beijing, my favOrite !\tOK?"
MIXED = "我是中國 人 Привет мир! café ﬁne \uff11\uff12\uff13 ά_b-c d's"
ACCENTED = "Ünïcödé ÀÉ Straße \u017f ϓ İstanbul ｶﾞ Å"
UNUSED = "hello [CLS] wOrld [unused1][MASK]  done"

CASES: list[tuple[str, list[object]]] = []


def case(expression: str, *inputs: object) -> None:
    """Add one case for these inputs."""
    CASES.append((expression, list(inputs)))


for sentence in (ENGLISH, MIXED, ACCENTED, "", " ", "x"):
    for flag in ("", "with_offsets=True"):
        case(f"T.WhitespaceTokenizer({flag})", sentence)
        case(f"T.UnicodeCharTokenizer({flag})", sentence)
        case(f"T.UnicodeScriptTokenizer({flag})", sentence)
        case(f"T.UnicodeScriptTokenizer(True, {flag})", sentence)
        case(f"T.BasicTokenizer({flag})", sentence)
        case(f"T.RegexTokenizer('\\\\s+', {flag})", sentence)
    case("T.CaseFold()", sentence)
    for form in ("NONE", "NFC", "NFKC", "NFD", "NFKD"):
        case(f"T.NormalizeUTF8(T.NormalizeForm.{form})", sentence)
for lower in (False, True):
    for keep in (False, True):
        for preserve in (False, True):
            for sentence in (ENGLISH, MIXED) if lower and preserve else (UNUSED, ENGLISH, MIXED):
                case(f"T.BasicTokenizer({lower}, {keep}, T.NormalizeForm.NONE, {preserve}, True)", sentence)
case("T.BasicTokenizer(False, False, T.NormalizeForm.NFKC, True, True)", MIXED)
case("T.BasicTokenizer(True, False, T.NormalizeForm.NFKD, True)", ACCENTED)
case("T.RegexTokenizer('\\\\s+', '\\\\s+', True)", ENGLISH)
case("T.RegexTokenizer('[,!]', ',', True)", ENGLISH)
case("T.RegexTokenizer('o', 'o')", ENGLISH)
case("T.RegexReplace('\\\\s+', '_')", ENGLISH)
case("T.RegexReplace('\\\\s+', '_', False)", ENGLISH)
case("T.RegexReplace('(\\\\w+) (\\\\w+)', '$2 $1')", ENGLISH)
case("T.RegexReplace('[aeiou]', '*')", ["one"])
case("T.CaseFold()", ["ABC", "Straße"])
for words in (["my", "favorite", "books", "unaffable", "lovely", "國國", "我我", "i" * 101], ["x"], [""]):
    case("T.WordpieceTokenizer(vocab)", words)
    case("T.WordpieceTokenizer(vocab, unknown_token='')", words)
    case("T.WordpieceTokenizer(vocab, max_bytes_per_token=4)", words)
for words in (["my", "favorite", "國國", "zzz", "unaffable"], ["x"], [""]):
    case("T.WordpieceTokenizer(vocab, with_offsets=True)", words)
    case("T.WordpieceTokenizer(vocab, unknown_token='', with_offsets=True)", words)
for sentence in ("i am my favorite china! 國國國 unaffable", "I LOVE the books, [CLS] [MASK]一國 zzz"):
    case("T.BertTokenizer(vocab)", sentence)
    case("T.BertTokenizer(vocab, with_offsets=True)", sentence)
    case("T.BertTokenizer(vocab, lower_case=True, preserve_unused_token=False, with_offsets=True)", sentence)
    case("T.BertTokenizer(vocab, keep_whitespace=True, preserve_unused_token=False)", sentence)
    case("T.BertTokenizer(vocab, unknown_token='')", sentence)
for jieba in ("MIX", "MP", "HMM"):
    for sentence in (
        "今天天气太好了我们一起去外面玩吧",
        "小明硕士毕业于中国科学院\uff0cabc 12.5元 hello-world",
        "今天 天气。",
        ".。好北好-小到院业2.5起于了x1y-3.",
    ):
        case(f"T.JiebaTokenizer(path('hmm.utf8'), path('mp.utf8'), T.JiebaMode.{jieba}, True)", sentence)
case("T.Lookup(vocab)", ["my", "china", "love"])
case("T.Lookup(vocab, '[UNK]')", ["my", "nowhere", "love"])
case("T.Lookup(vocab)", "book")
for n, left, right in (
    ([3, 2, 1], ("", 0), ("", 0)),
    ([2], ("_", 1), ("_", 1)),
    ([4, 2], ("_", 2), ("-", 9)),
    ([5], ("", 0), ("", 0)),
):
    case(f"T.Ngram({n}, {left}, {right}, ' ')", ["WildRose Country", "Canada's Ocean", "Land of Living Skies"])
    case(f"T.Ngram({n}, {left}, {right}, '-')", ["a"])
case("T.SlidingWindow(2)", [1, 2, 3, 4, 5])
case("T.SlidingWindow(3, 0)", ["a", "b", "c", "d"])
case("T.SlidingWindow(6, 0)", [1, 2, 3])
case("T.SlidingWindow(1, -1)", [1, 2, 3])
case("T.Truncate(2)", ["a", "b", "c"])
case("T.Truncate(5)", ["a", "b", "c"])
case("T.Truncate(2)", [[1, 2, 3], [4, 5, 6]])
case("T.TruncateSequencePair(5)", [1, 2, 3], [4, 5, 6])
case("T.TruncateSequencePair(4)", [1, 2, 3], [4, 5, 6, 7, 8])
case("T.TruncateSequencePair(2)", ["a", "b", "c"], ["d"])
case("T.TruncateSequencePair(9)", ["a", "b", "c"], ["d"])
case("T.AddToken('TOKEN')", ["a", "b"])
case("T.AddToken('TOKEN', begin=False)", ["a", "b"])
case("T.AddToken('END', begin=False)", [["a", "b"], ["c", "d"]])
case("T.ToNumber(ms.int32)", ["1", "-2", "+33"])
case("T.ToNumber(ms.float32)", ["1.5", "-2e3", "3"])
case("T.ToNumber(ms.float64)", ["1.5", "-2e3", "3"])
case("T.ToNumber(ms.uint8)", ["1", "255"])
case("T.PythonTokenizer(str.split)", "a b  c")
case("T.ToVectors(T.GloVe.from_file(path('glove.6B.test.txt')))", ["ok", "!", "nothing"])
case("T.ToVectors(T.GloVe.from_file(path('glove.6B.test.txt'), 2), [9.0, 8.0, 7.0])", ["ok", "the"])
case("T.ToVectors(T.GloVe.from_file(path('glove.6B.test.txt')), lower_case_backup=True)", ["OK", "The", "Я"])
case("T.ToVectors(T.FastText.from_file(path('fast.vec')))", ["ok", "!", "nothing"])
case("T.ToVectors(T.Vectors.from_file(path('fast.vec')))", "the")
case("T.ToVectors(T.Vectors.from_file(path('glove.6B.test.txt'), max_vectors=1))", ["ok", "!"])
case("T.ToVectors(T.CharNGram.from_file(path('char.txt')))", ["ok", "o", "zz"])
case("T.FilterWikipediaXML()", "Welcome  to China, 25!")
case("T.to_bytes", ["a", "é"])
case("lambda x: T.Vocab.from_list(['a', 'b'], ['<p>'], False).tokens_to_ids(list(x))", ["b", "<p>", "no"])
case("lambda x: T.Vocab.from_list(['a', 'b'], ['<p>']).ids_to_tokens(list(map(int, x)))", [0, 2, 7])
case("lambda x: sorted(T.Vocab.from_file(path('words.txt'), ',', 2, ['<u>']).vocab())", [0])
case("lambda x: sorted(T.Vocab.from_file(path('words.txt'), ',', None, ['<u>'], False).vocab().values())", [0])
case("lambda x: T.Vocab.from_dict({'home': 3, 'world': 1}).tokens_to_ids('home')", [0])
SIGNS = "٣. ำ\x07Ǆ.\ufeffѫé \x1c½Ⅷ€ か々ー한 😀👩\u200d👩 אבב\u0301 \u2028x\x85y"
for expression in (
    r"[\P{L}]", r"[^\P{L}]", r"[\P{L}&&[^ ]]", r"[\p{L}--[a-m]]", r"\P{Lu}", r"\p{Han}", r"\p{script=Cyrillic}",
    r"\p{IsHebrew}", r"[[:alpha:]]", r"[[:^punct:]]", r"\w+", r"\W", r"\s", r"\S+", r"\d", r".", r"(?s).", r"\h", r"\R",
    r"[]x]", r"(?m)^", r"$", r"\Z", r"(?=x)", r"x*", r"\x{434}|\u0434", r"\Q.\E", r"(?<n>x)", r"\p{Nope}", "[z-a]", "(",
):  # fmt: skip
    case(f"T.RegexReplace({expression!r}, '<$0>')", SIGNS)
    case(f"T.RegexTokenizer({expression!r}, {expression!r}, True)", MIXED)
for replacement in (r"\$1", "$2$1", "$", "$7", "x\\", r"\\", "${n}"):
    case(f"T.RegexReplace('(?<n>o)(r)?', {replacement!r})", ENGLISH)
for flag in ("", "with_offsets=True"):
    for tokenizer in ("WhitespaceTokenizer", "UnicodeCharTokenizer", "UnicodeScriptTokenizer", "BasicTokenizer"):
        case(f"T.{tokenizer}({flag})", SIGNS)
case("T.CaseFold()", SIGNS)
case("T.WordpieceTokenizer(vocab, '@@', 100, '[UNK]')", ["favorite", "my"])
case("T.WordpieceTokenizer(vocab)", [["my", "book"]])
case("T.BertTokenizer(vocab, '##', 5, '[UNK]', False, False, T.NormalizeForm.NFKC)", MIXED)
case("T.BertTokenizer(vocab, normalization_form=T.NormalizeForm.NFD, max_bytes_per_token=3)", ACCENTED)
case("T.Lookup(vocab, '[UNK]', ms.int64)", ["my", "zz"])
case("T.Lookup(vocab, data_type=ms.float32)", [["my", "book"]])
case("T.Lookup(vocab)", ["nowhere"])
case("T.Truncate(0)", ["a"])
case("T.AddToken('')", ["a"])
case("T.PythonTokenizer(list)", ["ab", "cd"])
case("lambda x: T.to_str(T.to_bytes(x, 'latin1'), 'latin1')", ["a", "é"])
case("lambda x: T.to_bytes(array=x, encoding='latin1')", ["a", "é"])
case("lambda x: T.to_str(array=T.to_bytes(x), encoding='utf8')", ["中"])
for data_type in ("int8", "uint16", "int64", "uint64", "float16"):
    for numeral in ("1", " -2", "+33", "127", "65535", "x", "", "9999999999999999999999", "65520"):
        case(f"T.ToNumber(ms.{data_type})", [numeral])
case("T.ToVectors(T.FastText.from_file(path('word.vec'), 1))", ["ok", "!"])
case("T.ToVectors(T.CharNGram.from_file(path('char.txt'), max_vectors=0))", ["ok", "o", "zz"])
case("T.ToVectors(T.Vectors.from_file(path('crooked.txt')))", ["ok"])
WORDS_SET = "D.NumpySlicesDataset({'w': ['b', 'a', 'c', 'a', 'b', 'd'], 'v': ['z'] * 6}, shuffle=False)"
for arguments in ("'w'", "['w']", "None", "'w', (2, None)", "'w', (None, 1)", "'w', (1, 2), 3", "'w', None, 2, ['<u>']",
                  "'w', None, None, ['<u>', '<p>'], False", "'w', (3, 2)", "'w', None, 0", "'nothing'"):  # fmt: skip
    case(f"lambda x: [str(pair) for pair in sorted(T.Vocab.from_dataset({WORDS_SET}, {arguments}).vocab().items())]", 0)
for call in ("tokens_to_ids(['my', 'zz'])", "ids_to_tokens([1, 99])", "ids_to_tokens(-1)", "tokens_to_ids([['my']])",
             "tokens_to_ids(np.array('my'))", "ids_to_tokens(np.array(1))", "ids_to_tokens('my')"):  # fmt: skip
    case(f"lambda x: vocab.{call}", 0)
case("lambda x: T.SPieceTokenizerLoadType.FILE.value", 0)
case("lambda x: T.SPieceTokenizerLoadType.MODEL.value", 0)
for model, size in (("BPE", 30), ("CHAR", 20), ("WORD", 12)):
    trained = f"T.SentencePieceVocab.from_file([path('corpus.txt')], {size}, 1.0, T.SentencePieceModel.{model}, {{}})"
    for out in ("STRING", "INT"):
        case(f"T.SentencePieceTokenizer({trained}, T.SPieceTokenizerOutType.{out})", "the deep ship is a sea")
