"""The paper's 16 sets of the UCI repository: text files, "?" for a cell that is missing."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lrnn.arrays import Floats
from lrnn.datasets.dataset import Columns, DataSet, Embedded, File, Raw

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
GITHUB = "https://raw.githubusercontent.com"
MISSING = "?"


def read_records(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """The rows of text files; missing cells are filled, or their rows are left out."""
    columns = entry.columns
    assert columns is not None
    rows = []
    for path in paths:
        lines = path.read_text("utf-8").splitlines()
        cells = [line.split(columns.separator) for line in lines if line.strip()]
        rows += cells[columns.header :]
    if columns.complete:
        rows = [row for row in rows if MISSING not in row]
    data = _filled(np.array([[_number(row[i]) for i in columns.attributes] for row in rows]))
    if columns.label is None:
        return Raw(data, None)
    return Raw(data, [row[columns.label] for row in rows])


def _number(cell: str) -> float:
    return np.nan if cell == MISSING else float(cell)


def _filled(data: Floats) -> Floats:
    """The data with the median of its column in each cell that is nan."""
    return np.where(np.isnan(data), np.nanmedian(data, axis=0), data)


def _set(
    name: str,
    title: str,
    *files: File,
    rows: int,
    columns: Columns,
    classes: str,
    names: str = "",
    **more: Any,
) -> DataSet:
    """An entry; the classes and the names of the attributes are given as comma-separated text."""
    return DataSet(
        name,
        title,
        rows=rows,
        attributes=len(columns.attributes),
        class_names=tuple(classes.split(", ")) if classes else (),
        files=files,
        read=read_records,
        columns=columns,
        names=tuple(names.split(", ")) if names else (),
        **more,
    )


def _numbered(prefix: str, count: int) -> str:
    return ", ".join(f"{prefix}{i + 1}" for i in range(count))


UCI_SETS = (
    _set(
        "iris",
        "Iris",
        File(
            "iris/iris.data",
            "6f608b71a7317216319b4d27b4d9bc84e6abd734eda7872b71a458569e2656c0",
            4_551,
            f"{UCI}/iris/iris.data",
        ),
        rows=150,
        columns=Columns(range(4), 4),
        classes="Iris-setosa, Iris-versicolor, Iris-virginica",
        names="sepal length (cm), sepal width (cm), petal length (cm), petal width (cm)",
        embedded=Embedded("load_iris", ((34, 3, 0.1), (37, 1, 3.1), (37, 2, 1.5))),
        remarks="As the UCI file has it, which is not scikit-learn's load_iris in rows 35 and 38.",
    ),
    _set(
        "teaching_assistant",
        "Teaching Assistant Evaluation",
        File(
            "teaching_assistant/tae.data",
            "e83ec0a1000f4d2a7d19de9de2fc8c381357304c5c8ff942779136a9e0eefca4",
            2_113,
            f"{UCI}/tae/tae.data",
        ),
        rows=151,
        columns=Columns(range(5), 5),
        classes="1, 2, 3",
        names="native speaker, instructor, course, semester, class size",
    ),
    _set(
        "liver",
        "Liver Disorders",
        File(
            "liver/bupa.data",
            "a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
            7_297,
            f"{UCI}/liver-disorders/bupa.data",
        ),
        rows=345,
        columns=Columns(range(5), None),
        classes="",
        names="mcv, alkphos, sgpt, sgot, gammagt",
        remarks=(
            "The 5 blood tests, as the paper has 5 attributes. The file's other columns are left "
            "out: drinks, and a selector that splits the rows in two and is no class."
        ),
    ),
    _set(
        "seeds",
        "Seeds",
        File(
            "seeds/seeds_dataset.txt",
            "1f3f83c0d8485ae9148061389d19628607e3f5660e3d6f40ec9102fb398bb12f",
            9_300,
            f"{UCI}/00236/seeds_dataset.txt",
        ),
        rows=210,
        columns=Columns(range(7), 7, separator=None),
        classes="1, 2, 3",
        names="area, perimeter, compactness, length, width, asymmetry, groove length",
    ),
    _set(
        "pima",
        "Pima Indians Diabetes",
        File(
            "pima/pima-indians-diabetes.data",
            "06f5b7c2cd7bca686fda4f92eab5f61e7ff6426a9acefa2e3dda04fc54293cf5",
            23_279,
            f"{GITHUB}/nebiljabari/Pima-Indian-Diabetes-Study/"
            "644641bcb55ac6bf7750c4ab54a26b5e8e922925/pima-indians-diabetes.data",
        ),
        rows=768,
        columns=Columns(range(8), 8),
        classes="0, 1",
        names="pregnancies, glucose, blood pressure, skin fold, insulin, bmi, pedigree, age",
        remarks="Zeros stand for some missing cells, but none is marked: they stay as they are.",
    ),
    _set(
        "breast_cancer_wisconsin",
        "Breast Cancer Wisconsin",
        File(
            "breast_cancer_wisconsin/breast-cancer-wisconsin.data",
            "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            19_889,
            f"{UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        ),
        rows=699,
        columns=Columns(range(1, 10), 10),
        classes="2, 4",
        names=(
            "clump thickness, cell size uniformity, cell shape uniformity, marginal adhesion, "
            "epithelial cell size, bare nuclei, bland chromatin, normal nucleoli, mitoses"
        ),
        remarks=(
            "16 cells in 16 rows are missing. The paper's count includes these rows, so the cells "
            "are filled with the median of their column."
        ),
    ),
    _set(
        "glass",
        "Glass Identification",
        File(
            "glass/glass.data",
            "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
            11_903,
            f"{UCI}/glass/glass.data",
        ),
        rows=214,
        columns=Columns(range(1, 10), 10),
        classes="1, 2, 3, 5, 6, 7",
        names="RI, Na, Mg, Al, Si, K, Ca, Ba, Fe",
    ),
    _set(
        "wine",
        "Wine",
        File(
            "wine/wine.data",
            "6be6b1203f3d51df0b553a70e57b8a723cd405683958204f96d23d7cd6aea659",
            10_782,
            f"{UCI}/wine/wine.data",
        ),
        rows=178,
        columns=Columns(range(1, 14), 0),
        classes="1, 2, 3",
        names=(
            "alcohol, malic_acid, ash, alcalinity_of_ash, magnesium, total_phenols, flavanoids, "
            "nonflavanoid_phenols, proanthocyanins, color_intensity, hue, "
            "od280/od315_of_diluted_wines, proline"
        ),
        embedded=Embedded("load_wine"),
    ),
    _set(
        "zoo",
        "Zoo",
        File(
            "zoo/zoo.data",
            "cddc71c26ab9bc82795b8f4ff114cade41885d92720c6af29ffb69bcf73f0315",
            4_126,
            f"{UCI}/zoo/zoo.data",
        ),
        rows=101,
        columns=Columns(range(1, 17), 17),
        classes="1, 2, 3, 4, 5, 6, 7",
        names=(
            "hair, feathers, eggs, milk, airborne, aquatic, predator, toothed, backbone, breathes, "
            "venomous, fins, legs, tail, domestic, catsize"
        ),
        paper_rows=100,
        remarks="The file names 100 animals, one of them (frog) twice.",
    ),
    _set(
        "parkinsons",
        "Parkinsons",
        File(
            "parkinsons/parkinsons.data",
            "a36116c2deac07895b79ce97a2f99a1b3720ac4892995ff5c3b9ccb397ed2bc5",
            40_697,
            f"{UCI}/parkinsons/parkinsons.data",
        ),
        rows=195,
        columns=Columns((*range(1, 17), *range(18, 24)), 17, header=True),
        classes="0, 1",
        names=(
            "MDVP:Fo(Hz), MDVP:Fhi(Hz), MDVP:Flo(Hz), MDVP:Jitter(%), MDVP:Jitter(Abs), MDVP:RAP, "
            "MDVP:PPQ, Jitter:DDP, MDVP:Shimmer, MDVP:Shimmer(dB), Shimmer:APQ3, Shimmer:APQ5, "
            "MDVP:APQ, Shimmer:DDA, NHR, HNR, RPDE, DFA, spread1, spread2, D2, PPE"
        ),
    ),
    _set(
        "wall_following",
        "Wall-Following Robot Navigation",
        File(
            "wall_following/sensor_readings_24.data",
            "6e9728dedef8b35e31ba0be11aea85aa53bd248ab33652777df81b95a4cc8c00",
            875_878,
            f"{UCI}/00194/sensor_readings_24.data",
        ),
        rows=5456,
        columns=Columns(range(24), 24),
        classes="Move-Forward, Sharp-Right-Turn, Slight-Left-Turn, Slight-Right-Turn",
        names=_numbered("US", 24),
    ),
    _set(
        "ionosphere",
        "Ionosphere",
        File(
            "ionosphere/ionosphere.data",
            "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
            76_467,
            f"{UCI}/ionosphere/ionosphere.data",
        ),
        rows=351,
        columns=Columns(range(34), 34),
        classes="b, g",
        remarks="Attribute 2 is constant, and becomes 0.",
    ),
    _set(
        "soybean",
        "Soybean Large",
        File(
            "soybean/soybean-large.data",
            "04b99f2728ded9f544022d2b4f6cce0ebe11ef5c9d44f10e21acd7093876507e",
            26_643,
            f"{UCI}/soybean/soybean-large.data",
            "train",
        ),
        File(
            "soybean/soybean-large.test",
            "ff1c5f5c41ddc9a8e3746648a2fe5cafb6b0eef86bd49575decbb665e1b6a104",
            32_572,
            f"{UCI}/soybean/soybean-large.test",
            "test",
        ),
        rows=266,
        columns=Columns(range(1, 36), 0, complete=True),
        classes=(
            "alternarialeaf-spot, anthracnose, bacterial-blight, bacterial-pustule, brown-spot, "
            "brown-stem-rot, charcoal-rot, diaporthe-stem-canker, downy-mildew, "
            "frog-eye-leaf-spot, phyllosticta-leaf-spot, phytophthora-rot, powdery-mildew, "
            "purple-seed-stain, rhizoctonia-root-rot"
        ),
        names=(
            "date, plant-stand, precip, temp, hail, crop-hist, area-damaged, severity, seed-tmt, "
            "germination, plant-growth, leaves, leafspots-halo, leafspots-marg, leafspot-size, "
            "leaf-shread, leaf-malf, leaf-mild, stem, lodging, stem-cankers, canker-lesion, "
            "fruiting-bodies, external-decay, mycelium, int-discolor, sclerotia, fruit-pods, "
            "fruit-spots, seed, mold-growth, seed-discolor, seed-size, shriveling, roots"
        ),
        default_split="train",
        paper_rows=186,
        remarks=(
            "These are the complete rows of the 307 in soybean-large.data, of 15 of its 19 "
            "classes; no reading of the file gives the paper's count. The complete rows of "
            "soybean-large.test are the split 'test'."
        ),
    ),
    _set(
        "theorem_proving",
        "First-Order Theorem Proving",
        File(
            "theorem_proving/first-order-theorem-proving.csv",
            "7141d6f5e43fe9c1912110a9dd2636d8db76b49195f9ba594dfbae648c1e1e24",
            2_679_548,
            f"{GITHUB}/datasets/openml-datasets/1e58ec568e0c1ad07909bc0f967a1fd3f5a9e5b3/data/"
            "first-order-theorem-proving/first-order-theorem-proving.csv",
        ),
        rows=6118,
        columns=Columns(range(51), 51, header=True),
        classes="1, 2, 3, 4, 5, 6",
        names=_numbered("V", 51),
        remarks="A re-export of OpenML's set 1475, whose attributes were standardised.",
    ),
    _set(
        "sonar",
        "Sonar",
        File(
            "sonar/sonar.all-data",
            "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
            87_776,
            f"{UCI}/undocumented/connectionist-bench/sonar/sonar.all-data",
        ),
        rows=208,
        columns=Columns(range(60), 60),
        classes="M, R",
    ),
    _set(
        "arrhythmia",
        "Cardiac Arrhythmia",
        File(
            "arrhythmia/arrhythmia.data",
            "a7f0f4ca289a4c58b5ed85a9adb793189acd38425828ce3dfbb70adb45f30169",
            402_355,
            f"{UCI}/arrhythmia/arrhythmia.data",
        ),
        rows=452,
        columns=Columns(range(279), 279),
        classes="1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16",
        remarks=(
            "408 cells in 384 rows are missing, 376 of them in column 14. The paper's count "
            "includes these rows, so the cells are filled with the median of their column. "
            "17 constant columns become 0."
        ),
    ),
)
