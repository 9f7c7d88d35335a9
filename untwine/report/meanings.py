"""What each score of a page says, in a sentence or two for a reader who has not met it."""

from __future__ import annotations

MEANINGS = {
    "probe": "Can a linear classifier tell the class from this part alone? Accuracy of logistic regression over 5 folds.",
    "factors": "How much of the true factors can a linear regression read from this part? Mean R²: 1 is all, 0 is nothing.",
    "factors_salient": "The same for the true factors that only targets have.",
    "clustering": "Do clusters that are found without labels agree with the classes? Accuracy of k-means in the t-SNE plane, "
    "best matching.",
    "clustering_random": "What the clustering score gives for random labels: the score of nothing.",
    "silhouette": "Do the classes stand apart in the t-SNE plane? 1 is apart, 0 is touching, below 0 is mixed.",
    "w2": "How far apart are the codes of target and background? Squared Wasserstein distance, 0 when they are alike.",
    "w2_relative": "The same distance over the mean squared norm of the codes, so that it does not depend on their scale.",
    "ari": "Do k-means clusters of the codes agree with the classes? Adjusted Rand index: 1 is the same, 0 is chance.",
    "nmi": "The same as normalised mutual information: 1 is the same, 0 is unrelated.",
    "leakage": "How much of what the other part should hold can be read here? 0 is nothing, 1 is as much as there.",
    "leakage_group": "The same for telling target from background.",
    "group_silhouette": "Do target and background stand apart? 1 is apart, 0 is in one place.",
    "class_read": "Can a small network tell the class from this part alone? Accuracy on held-out codes.",
    "content_read": "The same for the content: which combination of the true factors that vary within a class.",
    "class_chance": "What guessing the most frequent class gives.",
    "content_chance": "What guessing the most frequent content gives.",
    "transfer": "How far is a sample that got another's content from the true one? Mean absolute error.",
    "transfer_unmoved": "The same error for samples left as they are: the score of doing nothing.",
    "reconstruction": "How much is lost when a sample is encoded and decoded? Mean squared error per pixel or feature.",
    "regression": "How far off is a linear regression of the true factors from this part? Mean absolute error, held out.",
    "regression_constant": "The same error for guessing the mean of each factor: the score of knowing nothing.",
    "regression_salient": "The regression's error for the true factors that only targets have.",
    "regression_salient_constant": "The same error for guessing their means: the score of knowing nothing.",
    "per_class": "How often does a linear classifier recognise a class from this part? Mean over classes.",
    "swap_accuracy": "Is a swapped part seen in what is decoded? How often a network of real rows names the donor's class.",
    "swap_accuracy_ceiling": "How often that network is right on real rows: no swap can be expected to score more.",
    "swap_preservation": "Does the rest stay when a part is swapped? R² of its true factors, by a network of real rows.",
    "swap_preservation_ceiling": "The R² of that network on real rows: no swap can be expected to score more.",
    "translation_accuracy": "Do rows show a class of training that is asked for? How often a network of real rows names it.",
    "translation_accuracy_ceiling": "How often that network is right on real rows: hardly any translation scores more.",
    "translation_preservation": "Does the content stay in another class? R² of its true factors, by a network of real rows.",
    "translation_preservation_ceiling": "The R² of that network on real rows: hardly any translation scores more.",
    "transfer_lpips": "The same distance as LPIPS, by the features of a network: 0 is the same image.",
    "transfer_lpips_unmoved": "That distance for samples left as they are: the score of doing nothing.",
    "landmarks": "How far from the true landmarks are those that a regression reads from this part? Mean distance.",
    "landmarks_constant": "The same distance for guessing the mean place of each landmark.",
    "sap": "Does one latent predict a factor much better than the next best does? SAP score, from 0 to 1.",
    "mig": "Does one latent tell much more of a factor than the next best does? Mutual information gap, from 0 to 1.",
    "dci_disentanglement": "Does each latent matter for one factor only? 1 is one factor, 0 is all alike.",
    "dci_completeness": "Does one latent alone matter for each factor? 1 is one latent, 0 is all alike.",
    "dci_informativeness": "How well do boosted trees predict the factors from all latents of this part? Accuracy, held out.",
    "modularity": "Does each latent tell of one factor only? Mean over latents, 1 is one factor.",
    "explicitness": "Can every value of a factor be told by a linear classifier? Area under the curve, 0.5 is chance.",
    "z_diff": "Do differences of codes tell which factor two rows share? Accuracy of a linear classifier.",
    "factor_vae_score": "Does the latent that varies least tell which factor was held fixed? Accuracy of a majority vote.",
    "attributes": "Can attributes of yes or no be told along the difference of their two means? Mean accuracy, held out.",
    "attributes_guess": "What guessing the more frequent answer of each attribute gives.",
    "total_correlation": "How much do the latents of this part repeat each other, taken as Gaussian? In nats, 0 is not at all.",
    "wasserstein_correlation": "The same as a squared Wasserstein distance to independent latents, over their variance: 0 is "
    "independent.",
    "latent_information": "How much do two latents tell of each other on average? Mutual information in nats, 0 is nothing.",
    "fid": "Do made images look like real ones? Frechet distance in the features of Inception: 0 is alike.",
    "inception_score": "Are made images clear and of many kinds? Inception score: 1 is neither.",
    "inception_score_real": "The Inception score of real images, to compare with.",
}

# Scores whose names hold that of a class, a factor or a network, by how they begin and end; the first that fits counts.
FAMILIES = (
    ("per_class_", "", "How often a linear classifier recognises this class from this part. Accuracy, held out."),
    ("regression_", "_constant", "The error of guessing this factor's mean: the score of knowing nothing."),
    ("regression_", "", "How far off is a linear regression of this factor from this part? Mean absolute error, held out."),
    ("probe_", "", "Can a linear classifier tell the value of this factor from this part alone? Accuracy over 5 folds."),
    ("attributes_", "_guess", "What guessing the more frequent answer of this attribute gives."),
    ("attributes_", "", "Can this attribute of yes or no be told along the difference of its two means? Accuracy, held out."),
    (
        "frechet_",
        "",
        "Do made images look like real ones? Frechet distance in the features of the network named: 0 is alike.",
    ),
    ("class_score_", "_real", "The class score of real images, to compare with."),
    ("class_score_", "", "Are made images clear and of many kinds? Class score by the network named: 1 is neither."),
)


def meaning(metric: str) -> str:
    """Return what a metric says, in a sentence; nothing for one that is not ours."""
    if metric in MEANINGS:
        return MEANINGS[metric]
    fits = (text for start, end, text in FAMILIES if metric.startswith(start) and metric.endswith(end))
    return next(fits, "")
